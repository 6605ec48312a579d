//! One run of the gateway as a process of its own. It never outlives the test.

use super::api::Api;
use super::site::Site;
use postrider_torture::rig::process::{Ended, Process};
use postrider_torture::rig::tied;
use rustix::process::Signal;
use std::fs::read_to_string;
use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) struct Gateway {
    process: Process,
    address: SocketAddr,
    data_dir: PathBuf,
    admin_key: Option<String>,
    /// A test has planted a panic.
    may_panic: bool,
}

impl Gateway {
    pub(crate) fn spawn(command: Command, site: &Site) -> Self {
        let process = Process::spawn(command, site.path());
        let (address, data_dir) = (site.address(), site.data_dir().to_owned());
        Gateway { process, address, data_dir, admin_key: site.admin_key(), may_panic: false }
    }

    /// With the admin key, acting for the first account.
    pub(crate) fn api(&self) -> Api {
        let made = || read_to_string(self.data_dir.join("admin.key")).expect("the first start makes a key");
        let key = self.admin_key.clone().unwrap_or_else(made);
        Api { address: self.address, key: key.trim().to_owned() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// SIGKILL, and gone when this returns. Gives the moment after which it cannot have done anything more.
    pub(crate) fn kill(mut self) -> Instant {
        self.process.kill()
    }

    /// SIGTERM, and the end of it.
    pub(crate) fn stop(self) -> Ended {
        self.signal(Signal::TERM);
        self.wait_for_end()
    }

    pub(crate) fn wait_for_end(self) -> Ended {
        self.end_within(Duration::from_secs(60))
    }

    /// The end of one in which a test has planted a panic.
    pub(crate) fn wait_for_panic(mut self) -> Ended {
        self.may_panic = true;
        self.process.end_within(Duration::from_secs(60))
    }

    pub(crate) fn end_within(mut self, deadline: Duration) -> Ended {
        self.process.end_within(deadline)
    }
}

impl Drop for Gateway {
    /// A panic is caught where it costs least, so that often nothing but the log tells of it.
    fn drop(&mut self) {
        self.process.kill();
        let log = self.process.err();
        let told = log.lines().find(|line| line.contains("panicked"));
        assert!(
            thread::panicking() || self.may_panic || told.is_none(),
            "the gateway has panicked: {told:?}"
        );
    }
}

impl Deref for Gateway {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.process
    }
}

impl DerefMut for Gateway {
    fn deref_mut(&mut self) -> &mut Process {
        &mut self.process
    }
}

#[test]
fn a_gateway_that_has_panicked_fails_its_test() {
    let says = |line: &str| {
        let mut command = tied::command("sh");
        command.args(["-c", "echo \"$1\" >&2", "sh", line]);
        let site = Site::new();
        let gateway = Gateway::spawn(command, &site);
        catch_unwind(AssertUnwindSafe(|| gateway.wait_for_end())).is_ok()
    };
    assert!(says("the wall clock is behind"));
    assert!(!says("thread 'main' (1) panicked at src/main.rs:1:1:"));
}
