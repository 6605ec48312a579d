//! Child processes that do not outlive their owner.

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};
use std::process::ExitStatus;
use std::time::{Duration, Instant};
use tokio::process::{ChildStdout, Command};

/// A killed process is gone in far less, unless the kernel holds it.
const KILL_WAIT_MAX: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Child {
    process: tokio::process::Child,
    pid: u32,
}

impl Child {
    pub(crate) fn spawn(command: &mut Command) -> anyhow::Result<Child> {
        let process = command.spawn().context("start a child process")?;
        let pid = process.id().context("a process just started has an id")?;
        Ok(Child { process, pid })
    }

    /// This program again, to be given a subcommand.
    pub(crate) fn this_program() -> anyhow::Result<Command> {
        let mut command = Command::new(std::env::current_exe().context("find this program")?);
        command.stdin(std::process::Stdio::null());
        Ok(command)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// The child's standard output, where it was piped and not taken yet.
    pub(crate) fn take_stdout(&mut self) -> anyhow::Result<ChildStdout> {
        self.process.stdout.take().context("the child's output is not ours")
    }

    /// `None` while it runs.
    pub(crate) fn exit_status(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        self.process.try_wait().context("ask after a child process")
    }

    /// Asks the child to stop, and gives the time it took and how it ended.
    pub(crate) async fn terminate(mut self, patience: Duration) -> anyhow::Result<(Duration, ExitStatus)> {
        let asked = Instant::now();
        let raw = i32::try_from(self.pid).context("a process id out of range")?;
        kill_process(Pid::from_raw(raw).context("process id 0")?, Signal::TERM).context("send SIGTERM")?;
        let ended = tokio::time::timeout(patience, self.process.wait()).await;
        let status = ended.with_context(|| format!("still running {patience:?} after SIGTERM"))?;
        Ok((asked.elapsed(), status.context("wait for a child process")?))
    }
}

impl Drop for Child {
    /// Kills and reaps. Blocks for a moment: a directory the child writes to can be removed only afterwards.
    fn drop(&mut self) {
        let _ = self.process.start_kill();
        let killed = Instant::now();
        while matches!(self.process.try_wait(), Ok(None)) && killed.elapsed() < KILL_WAIT_MAX {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exists(pid: u32) -> bool {
        std::path::Path::new(&format!("/proc/{pid}")).exists()
    }

    #[test]
    fn a_dropped_child_is_gone_and_a_terminated_one_says_how_it_ended() {
        crate::http::runtime().expect("a runtime").block_on(async {
            let dropped = Child::spawn(Command::new("sleep").arg("60")).expect("sleep exists");
            let pid = dropped.pid();
            assert!(exists(pid));
            drop(dropped);
            assert!(!exists(pid));

            let stopped = Child::spawn(Command::new("sleep").arg("60")).expect("sleep exists");
            let (_, status) = stopped.terminate(Duration::from_secs(10)).await.expect("sleep ends");
            assert!(!status.success(), "sleep does not handle SIGTERM");
        });
    }
}
