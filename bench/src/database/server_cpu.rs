//! What the server has spent of the CPU, its processes together, where it runs on this machine.

use super::schema::connect;
use crate::procfs;
use std::time::Duration;

pub(super) struct ServerCpu {
    postmaster: u32,
}

impl ServerCpu {
    /// `None` when the server is elsewhere.
    pub(super) async fn find(url: &str) -> anyhow::Result<Option<ServerCpu>> {
        let backend: i32 = connect(url).await?.query_one("SELECT pg_backend_pid()", &[]).await?.get(0);
        let postmaster = u32::try_from(backend).ok().filter(|pid| is_postgres(*pid)).and_then(procfs::parent);
        let postmaster = postmaster.filter(|pid| is_postgres(*pid));
        Ok(postmaster.map(|postmaster| ServerCpu { postmaster }))
    }

    /// Of the postmaster, of its children, and of those that have ended.
    pub(super) fn spent(&self) -> Option<Duration> {
        let mut spent = procfs::cpu_time_with_ended(self.postmaster).ok()?;
        for pid in procfs::children(self.postmaster) {
            // One that ends in between is counted with the postmaster the next time.
            spent += procfs::cpu_time(pid).unwrap_or_default();
        }
        Some(spent)
    }
}

fn is_postgres(pid: u32) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim().starts_with("postgres")
}
