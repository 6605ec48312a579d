//! One run of the gateway as a process of its own. It never outlives whoever started it.

use super::tied;
use super::wait::{wait_until, wait_within};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{File, read_to_string};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A gateway that runs, or has ended.
pub struct Process {
    child: Child,
    started_at: Instant,
    out: PathBuf,
    err: PathBuf,
}

/// What is left of a run.
#[derive(Debug)]
pub struct Ended {
    /// Nothing when a signal ended it.
    pub code: Option<i32>,
    /// What it had printed.
    pub out: String,
    /// What it had logged.
    pub err: String,
}

impl Process {
    /// Starts what [`tied::command`] describes; what it prints and logs goes to files of this directory.
    pub fn spawn(mut command: Command, directory: &Path) -> Self {
        // One pair of files a run: the last of them is what a failing test looks at.
        let run = std::fs::read_dir(directory).map_or(0, Iterator::count);
        let (out, err) = (directory.join(format!("{run}.out")), directory.join(format!("{run}.err")));
        let file = |path: &PathBuf| Stdio::from(File::create(path).expect("the directory is ours"));
        command.stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err));
        let child = tied::spawn(command).expect("setpriv is there: it is of util-linux");
        Process { child, started_at: Instant::now(), out, err }
    }

    /// Waits for the banner, and gives how long it took.
    pub fn wait_for_banner(&mut self) -> Duration {
        assert!(self.comes_to_serve(), "it has ended instead:\n{}", self.err());
        self.started_at.elapsed()
    }

    /// Waits for the banner or the end; whether it was the banner.
    pub fn comes_to_serve(&mut self) -> bool {
        wait_until("the banner is printed, or it ends", || {
            let runs = self.is_running();
            let printed = self.out().contains("listening on");
            (printed || !runs).then_some(printed)
        })
    }

    /// What the system calls it.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has printed so far.
    pub fn out(&self) -> String {
        read_to_string(&self.out).unwrap_or_default()
    }

    /// What it has logged so far.
    pub fn err(&self) -> String {
        read_to_string(&self.err).unwrap_or_default()
    }

    /// What it has logged behind so many bytes, in whole lines, and up to where.
    pub fn err_since(&self, from: u64) -> (String, u64) {
        let mut bytes = Vec::new();
        let read = File::open(&self.err).and_then(|mut file| {
            file.seek(SeekFrom::Start(from))?;
            file.read_to_end(&mut bytes)
        });
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        match read {
            Ok(_) => (String::from_utf8_lossy(&bytes[..whole]).into_owned(), from + whole as u64),
            Err(_) => (String::new(), from),
        }
    }

    /// Whether it has not ended yet.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("the child is ours").is_none()
    }

    /// The most memory that it has had so far.
    pub fn peak_bytes(&self) -> u64 {
        self.status_bytes("VmHWM:")
    }

    /// The memory that it has now.
    pub fn resident_bytes(&self) -> u64 {
        self.status_bytes("VmRSS:")
    }

    /// The files and connections that it has open now.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }

    fn status_bytes(&self, field: &str) -> u64 {
        let status =
            read_to_string(format!("/proc/{}/status", self.child.id())).expect("Linux tells of a process");
        let kilobytes = status.lines().find_map(|line| line.strip_prefix(field)?.trim().strip_suffix(" kB"));
        kilobytes.and_then(|kilobytes| kilobytes.parse::<u64>().ok()).map_or(0, |kilobytes| kilobytes * 1024)
    }

    /// Sends a signal to it.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id() as i32).expect("a child has a number");
        kill_process(pid, signal).expect("the child is not reaped yet");
    }

    /// SIGKILL, and gone when this returns. Gives the moment after which it cannot have done anything more.
    pub fn kill(&mut self) -> Instant {
        let _ = self.child.kill();
        let _ = self.child.wait();
        Instant::now()
    }

    /// Waits for the end of it.
    pub fn end_within(&mut self, deadline: Duration) -> Ended {
        let look = || self.child.try_wait().expect("the child is ours");
        let status: ExitStatus = wait_within(deadline, "the gateway ends", look);
        Ended { code: status.code(), out: self.out(), err: self.err() }
    }
}

/// Of the log that a failing test shows.
const LOG_LINES: usize = 30;

impl Drop for Process {
    /// Whoever fails shows what the gateway said; the output of a test that passes is not shown.
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
