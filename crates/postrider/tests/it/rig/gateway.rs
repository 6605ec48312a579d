//! One run of the gateway as a process of its own. It never outlives the test.

use super::api::Api;
use super::site::Site;
use postrider_torture::rig::process::{Ended, Process};
use rustix::process::Signal;
use std::fs::read_to_string;
use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

pub(crate) struct Gateway {
    process: Process,
    address: SocketAddr,
    data_dir: PathBuf,
    admin_key: Option<String>,
}

impl Gateway {
    pub(crate) fn spawn(command: Command, site: &Site) -> Self {
        let process = Process::spawn(command, site.path());
        let (address, data_dir) = (site.address(), site.data_dir().to_owned());
        Gateway { process, address, data_dir, admin_key: site.admin_key() }
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

    pub(crate) fn end_within(mut self, deadline: Duration) -> Ended {
        self.process.end_within(deadline)
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
