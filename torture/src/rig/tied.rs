//! Processes that end with this one, whatever ends it: whoever is killed, or ended by Ctrl-C, drops nothing.

use std::ffi::OsStr;
use std::io;
use std::process::{Child, Command};
use std::sync::{LazyLock, mpsc};
use std::thread;

/// A command line for this program, whose process the system kills when the one that started it by [`spawn`] has ended.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    child_of(std::process::id(), program)
}

/// Of a parent that ended before its child was tied to it the system tells nobody, so the child looks once it is.
fn child_of(parent: u32, program: impl AsRef<OsStr>) -> Command {
    let unless_left = r#"[ "$PPID" = "$1" ] || exit 1; shift; exec "$@""#;
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "sh", "-c", unless_left, "tied"]);
    command.arg(parent.to_string()).arg(program);
    command
}

/// A process to be started, and where to say what came of it.
type Order = (Command, mpsc::Sender<io::Result<Child>>);

/// To the system a parent is the thread that started a child, and whoever starts a node again may end long before it. So
/// all are started by one thread, which lives as long as the process.
static STARTER: LazyLock<mpsc::SyncSender<Order>> = LazyLock::new(|| {
    let (orders, taken) = mpsc::sync_channel::<Order>(0);
    thread::spawn(move || {
        for (mut command, answer) in taken {
            // Whoever asked waits for it.
            let _ = answer.send(command.spawn());
        }
    });
    orders
});

/// Starts a process that was described by [`command`].
pub fn spawn(command: Command) -> io::Result<Child> {
    let (answer, answered) = mpsc::channel();
    STARTER.send((command, answer)).expect("the thread takes orders for as long as there is a process");
    answered.recv().expect("it answers each of them")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::wait::wait_until;
    use std::io::{Read, Write};
    use std::path::Path;
    use std::process::Stdio;

    /// Whether it gives back what it is given, which one that was killed does not.
    fn echoes(cat: &mut Child) -> bool {
        let (input, output) = (cat.stdin.as_mut().unwrap(), cat.stdout.as_mut().unwrap());
        let mut byte = [0];
        input.write_all(b"x").is_ok() && output.read_exact(&mut byte).is_ok()
    }

    #[test]
    fn a_process_whose_parent_is_gone_already_does_not_run() {
        let printed = |mut echo: Command| echo.arg("ran").output().unwrap().stdout;
        assert_eq!(printed(command("echo")), b"ran\n");
        assert_eq!(printed(child_of(u32::MAX, "echo")), b"");
    }

    #[test]
    fn a_process_outlives_the_thread_that_asked_for_it() {
        let asks = || {
            let mut cat = command("cat");
            cat.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut cat = spawn(cat).unwrap();
            assert!(echoes(&mut cat), "it runs");
            (cat, std::fs::read_link("/proc/thread-self").unwrap())
        };
        let (mut cat, thread) = thread::spawn(asks).join().unwrap();
        let thread = Path::new("/proc").join(thread);
        wait_until("the system has forgotten the thread", || (!thread.exists()).then_some(()));
        let lives = echoes(&mut cat);
        let _ = cat.kill();
        cat.wait().unwrap();
        assert!(lives, "it ended with the thread");
    }
}
