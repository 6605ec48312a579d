//! SIGHUP: the settings are read again, and limits among them count from then on, without a restart.
//!
//! Flags and environment are those of the start, so it is the file that can bring something new. What is wrong with it
//! changes nothing.

use super::{descriptors, engine_limits};
use crate::api::App;
use crate::cli::ServeArgs;
use crate::config::{Config, Given};
use crate::serve::room::ConnectionLimits;
use postrider_core::limits::IDLE_CONNECTIONS_MAX;
use postrider_engine::Engine;
use std::sync::Arc;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// What counts at once. Everything else is taken up by a start.
const LIMITS: [&str; 12] = [
    "slots",
    "priority_floors",
    "promotion_age_seconds",
    "in_flight_bytes_max",
    "in_flight_bytes_per_account_max",
    "in_flight_bytes_per_destination_max",
    "backlog_max_rows",
    "backlog_max_bytes",
    "backlog_max_age",
    "commit_max_ms",
    "connections_max",
    "connections_per_address_max",
];

/// SIGHUP. Whoever starts the gateway with the signal ignored, as `nohup` does, has it stay ignored.
pub(super) struct Hangup(Option<Signal>);

impl Hangup {
    pub(super) fn new() -> std::io::Result<Self> {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let heard = if is_ignored(&status) { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Hangup(heard))
    }

    pub(super) async fn recv(&mut self) {
        match &mut self.0 {
            Some(signal) => _ = signal.recv().await,
            None => std::future::pending().await,
        }
    }
}

/// Whether SIGHUP, the first of all signals, is ignored, by what Linux says of a process. The runtime puts a handler in
/// place of what was inherited, so this is asked before; another system says nothing of it.
fn is_ignored(status: &str) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// What follows the settings while the gateway runs.
pub(super) struct Reload {
    args: ServeArgs,
    /// What the settings were given when they were last taken up.
    given: Given,
    /// Threads that send, which are those of the start.
    workers: usize,
    engine: Arc<Engine>,
    app: Arc<App>,
    connections: watch::Sender<ConnectionLimits>,
}

impl Reload {
    /// With what accepts connections by these limits.
    pub(super) fn new(
        args: ServeArgs,
        config: &Config,
        engine: &Arc<Engine>,
        app: &Arc<App>,
    ) -> (Self, watch::Receiver<ConnectionLimits>) {
        let (connections, limits) = watch::channel(config.connections);
        let (given, engine, app) = (config.given.clone(), Arc::clone(engine), Arc::clone(app));
        (Reload { args, given, workers: config.workers, engine, app, connections }, limits)
    }

    /// Whether there is a file that could bring something new.
    fn has_file(&self) -> bool {
        self.args.config.is_some() || std::env::var_os("POSTRIDER_CONFIG").is_some()
    }

    /// Reads the settings again and takes up what can be taken up.
    pub(super) async fn reload(&mut self) {
        if !self.has_file() {
            tracing::warn!("received SIGHUP but there is no settings file; settings unchanged");
            return;
        }
        let config = match Config::read(&self.args, &super::environment()) {
            Ok(config) => {
                let idle_connections = IDLE_CONNECTIONS_MAX * self.workers;
                descriptors::share_out(Config { workers: self.workers, idle_connections, ..config })
            }
            Err(mistakes) => {
                tracing::warn!(%mistakes, "failed to reload the settings; keeping the current ones");
                return;
            }
        };
        let changed = self.given.changed(&config.given);
        let (limits, others): (Vec<&str>, Vec<&str>) =
            changed.into_iter().partition(|setting| LIMITS.contains(setting));
        if !others.is_empty() {
            let settings = others.join(", ");
            tracing::warn!(%settings, "changed settings take effect at the next start");
        }
        self.engine.limit(engine_limits(&config)).await;
        self.connections.send_replace(config.connections);
        self.app.limit(&config);
        self.given = config.given;
        tracing::info!(changed = %limits.join(", "), "reloaded the settings");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_is_ignored_is_seen_by_what_the_system_says() {
        for (status, ignored) in [
            ("Name:\tpostrider\nSigIgn:\t0000000000000001\nSigCgt:\t0000000000000000\n", true),
            ("SigIgn:\t0000000000001001\n", true),
            ("SigIgn:\t0000000000001000\nSigCgt:\t0000000000000001\n", false),
            ("", false),
        ] {
            assert_eq!(is_ignored(status), ignored, "{status}");
        }
    }
}
