//! Two servers: one that writes, and a standby that has every commit before it is answered.

use super::{Alone, Server};
use std::time::{Duration, Instant};

/// Both end when it is dropped.
pub struct Replicated {
    /// The one that writes.
    pub primary: Alone,
    /// The one that reads until it is promoted.
    pub standby: Alone,
}

/// Far more than a standby takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

impl Replicated {
    /// Starts both, and waits until the one waits for the other.
    pub fn start() -> Self {
        let (primary, standby) = (Alone(Server::start()), Alone(Server::place()));
        let from = primary.directory.path().to_str().unwrap();
        let copy = ["-h", from, "-U", "postrider", "-D", &standby.data(), "-R", "-X", "stream", "-c", "fast"];
        standby.run("pg_basebackup", &copy);
        standby.launch();
        let both = Replicated { primary, standby };
        both.ask_primary("ALTER SYSTEM SET synchronous_standby_names = '*'");
        both.ask_primary("SELECT pg_reload_conf()");
        both.wait_for_standby();
        both
    }

    /// Kills the one that writes; the other takes its place, with all that it was told.
    pub fn fail_over(&self) {
        self.primary.kill();
        self.standby.run("pg_ctl", &["-D", &self.standby.data(), "-w", "promote"]);
    }

    fn ask_primary(&self, sql: &str) -> String {
        self.primary.ask("/postgres", sql)
    }

    fn wait_for_standby(&self) {
        let began = Instant::now();
        while self.ask_primary("SELECT sync_state FROM pg_stat_replication") != "sync" {
            assert!(began.elapsed() < PATIENCE, "there is no standby");
        }
    }
}
