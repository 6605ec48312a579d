//! One run of the gateway as a process of its own. It never outlives the test.

use super::api::Api;
use super::site::Site;
use super::{wait_until, wait_within};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{File, read_to_string};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

pub(crate) struct Gateway {
    child: Child,
    started_at: Instant,
    address: SocketAddr,
    data_dir: PathBuf,
    out: PathBuf,
    err: PathBuf,
}

/// What is left of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Gateway {
    pub(crate) fn spawn(mut command: Command, site: &Site) -> Self {
        // One pair of files a run: the last of them is what a failing test looks at.
        let run = std::fs::read_dir(site.path()).map_or(0, Iterator::count);
        let (out, err) = (site.path().join(format!("{run}.out")), site.path().join(format!("{run}.err")));
        let file = |path: &PathBuf| Stdio::from(File::create(path).expect("the directory is ours"));
        command.stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err));
        let child = command.spawn().expect("the binary was built with this test");
        let data_dir = site.data_dir().to_owned();
        Gateway { child, started_at: Instant::now(), address: site.address(), data_dir, out, err }
    }

    /// Waits for the banner, and gives how long it took.
    pub(crate) fn wait_for_banner(&mut self) -> Duration {
        wait_until("the banner is printed", || {
            let runs = self.is_running();
            let printed = self.out().contains("listening on");
            assert!(runs || printed, "it has ended instead:\n{}", self.err());
            printed.then_some(())
        });
        self.started_at.elapsed()
    }

    /// With the admin key, acting for the first account.
    pub(crate) fn api(&self) -> Api {
        let key = read_to_string(self.data_dir.join("admin.key")).expect("the first start makes a key");
        Api { address: self.address, key: key.trim().to_owned() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn out(&self) -> String {
        read_to_string(&self.out).unwrap_or_default()
    }

    pub(crate) fn err(&self) -> String {
        read_to_string(&self.err).unwrap_or_default()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("the child is ours").is_none()
    }

    /// The most memory that it has had so far.
    pub(crate) fn peak_bytes(&self) -> u64 {
        let status =
            read_to_string(format!("/proc/{}/status", self.child.id())).expect("Linux tells of a process");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak.and_then(|kilobytes| kilobytes.parse::<u64>().ok()).expect("with its peak") * 1024
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id() as i32).expect("a child has a number");
        kill_process(pid, signal).expect("the child is not reaped yet");
    }

    /// SIGKILL, and gone when this returns. Gives the moment after which it cannot have done anything more.
    pub(crate) fn kill(mut self) -> Instant {
        let _ = self.child.kill();
        let _ = self.child.wait();
        Instant::now()
    }

    /// SIGTERM, and the end of it.
    pub(crate) fn stop(self) -> Ended {
        self.signal(Signal::TERM);
        self.wait_for_end()
    }

    pub(crate) fn wait_for_end(self) -> Ended {
        self.end_within(Duration::from_secs(60))
    }

    pub(crate) fn end_within(mut self, deadline: Duration) -> Ended {
        let look = || self.child.try_wait().expect("the child is ours");
        let status: ExitStatus = wait_within(deadline, "the gateway ends", look);
        Ended { code: status.code(), out: self.out(), err: self.err() }
    }
}

/// Of the log that a failing test shows.
const LOG_LINES: usize = 30;

impl Drop for Gateway {
    /// A test that fails shows what the gateway said; the output of one that passes is not shown.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let log = self.err();
            let lines: Vec<&str> = log.lines().collect();
            let last = &lines[lines.len().saturating_sub(LOG_LINES)..];
            println!("--- the end of the gateway's log\n{}", last.join("\n"));
        }
    }
}
