//! One gateway of a run: started, killed, frozen, stopped, and started again at the same address.

use super::{LEASE, sends_from};
use crate::rig::loopback;
use crate::rig::process::Process;
use crate::rig::tied;
use rustix::process::Signal;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) struct Node {
    number: usize,
    binary: PathBuf,
    args: Vec<String>,
    admin_key: String,
    address: SocketAddr,
    /// Have it send from its own address.
    variables: [(&'static str, OsString); 2],
    /// With its data, and with what it printed in each of its runs.
    directory: PathBuf,
    process: Option<Process>,
    complaints: Vec<String>,
}

/// Longer than the grace time, on a busy machine.
const STOP: Duration = Duration::from_secs(60);
const STARTS: usize = 5;
const GRACE_SECONDS: &str = "10";

impl Node {
    /// In a directory of its own under this one. By this way to its database, or with a data directory alone.
    pub(super) fn new(
        binary: &Path,
        home: &Path,
        number: usize,
        way: Option<String>,
        admin_key: &str,
    ) -> Self {
        let directory = home.join(format!("node-{number}"));
        std::fs::create_dir(&directory).expect("there is room for temporary files");
        let address = loopback::fresh();
        let data = directory.join("data");
        let mut args: Vec<String> =
            ["serve", "--egress-allow", "127.0.0.0/8", "--grace-seconds", GRACE_SECONDS]
                .map(str::to_owned)
                .into();
        args.extend(["--listen".to_owned(), address.to_string()]);
        args.extend(["--data-dir".to_owned(), data.display().to_string()]);
        if let Some(way) = way {
            args.extend([
                "--database-url".to_owned(),
                way,
                "--node-name".to_owned(),
                format!("node-{number}"),
            ]);
            args.extend(["--lease-seconds".to_owned(), LEASE.as_secs().to_string()]);
        }
        Node {
            number,
            binary: binary.to_owned(),
            args,
            admin_key: admin_key.to_owned(),
            address,
            variables: sends_from::variables(home, address),
            directory,
            process: None,
            complaints: Vec::new(),
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts it and waits until it serves. It is started again when it gives up, as by whoever looks after it: a database
    /// that is busy with a crash may not answer in time.
    pub(crate) fn start(&mut self) {
        for left in (0..STARTS).rev() {
            self.spawn();
            let Some(process) = &mut self.process else { return };
            if process.comes_to_serve() {
                return;
            }
            assert!(left > 0, "it does not start:\n{}", process.err());
        }
    }

    /// Starts it and does not wait.
    pub(crate) fn spawn(&mut self) {
        let mut command = tied::command(&self.binary);
        let ours = std::env::vars_os().map(|(name, _)| name);
        ours.filter(|name| name.to_string_lossy().starts_with("POSTRIDER_")).for_each(|name| {
            command.env_remove(name);
        });
        command.env("POSTRIDER_ADMIN_KEY", &self.admin_key);
        command.envs(self.variables.iter().cloned());
        command.current_dir(&self.directory).args(&self.args);
        self.process = Some(Process::spawn(command, &self.directory));
    }

    pub(crate) fn kill(&mut self) {
        self.look();
        if let Some(mut process) = self.process.take() {
            process.kill();
        }
    }

    /// Sends a signal, unless it has ended.
    pub(crate) fn signal(&mut self, signal: Signal) {
        self.look();
        if let Some(process) = &self.process {
            process.signal(signal);
        }
    }

    /// SIGTERM, and its end; gives what is wrong with it.
    pub(crate) fn stop(&mut self) -> Option<String> {
        self.look();
        let mut process = self.process.take()?;
        process.signal(Signal::TERM);
        let ended = process.end_within(STOP);
        let last = ended.err.lines().last().unwrap_or_default();
        (ended.code != Some(0)).then(|| {
            format!("node {} ended with {:?} when it was told to stop: {last}", self.number, ended.code)
        })
    }

    /// One that has ended by itself is started again, and complained about.
    pub(crate) fn look(&mut self) {
        let Some(process) = &mut self.process else { return };
        if !process.is_running() {
            let log = process.err();
            let last = log.lines().last().unwrap_or_default();
            self.complaints.push(format!("node {} ended by itself: {last}", self.number));
            self.start();
        }
    }

    pub(super) fn take_complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }

    /// Lines that tell of a panic, in the logs of all its runs.
    pub(super) fn panics(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let logs = entries.filter(|entry| entry.path().extension().is_some_and(|found| found == "err"));
        let texts = logs.filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
        let told = texts.flat_map(|text| {
            text.lines().filter(|line| line.contains("panicked")).map(str::to_owned).collect::<Vec<_>>()
        });
        told.map(|line| format!("node {}: {line}", self.number)).collect()
    }

    pub(super) fn keep_logs(&self, directory: &Path) -> anyhow::Result<()> {
        std::fs::create_dir_all(directory)?;
        for entry in std::fs::read_dir(&self.directory)? {
            let path = entry?.path();
            if let (true, Some(run)) =
                (path.extension().is_some_and(|found| found == "err"), path.file_name())
            {
                let name = format!("node-{}-{}", self.number, run.to_string_lossy());
                std::fs::copy(&path, directory.join(name))?;
            }
        }
        Ok(())
    }

    pub(crate) fn process(&self) -> Option<&Process> {
        self.process.as_ref()
    }

    /// Where its data is.
    pub(crate) fn data(&self) -> PathBuf {
        self.directory.join("data")
    }
}
