//! The processes of a throw-away server, found by where they work.

use super::Database;
use std::path::PathBuf;
use std::process::{Command, Stdio};

impl Database {
    /// Where its data is.
    pub(super) fn data_dir(&self) -> PathBuf {
        self.server.socket().with_file_name("data")
    }

    /// Kills a process that serves a connection of ours, if there is one. The server takes it for a crash: it cuts all
    /// connections and starts anew by itself.
    pub(crate) fn kill_backend(&self) {
        let name = self.url.split('?').next().and_then(|base| base.rsplit('/').next()).unwrap_or_default();
        let data = self.data_dir();
        let serves_us = |process: &PathBuf| {
            let works_there =
                std::fs::read_link(process.join("cwd")).is_ok_and(|directory| directory == data);
            let title = std::fs::read_to_string(process.join("cmdline")).unwrap_or_default();
            works_there && title.contains(name)
        };
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
        if let Some(pid) =
            processes.filter(serves_us).find_map(|process| Some(process.file_name()?.to_owned()))
        {
            // It may have ended since.
            let _ = Command::new("kill").arg("-9").arg(pid).stderr(Stdio::null()).status();
        }
    }
}
