//! SIGHUP: the settings are read again, and limits among them count from then on, without a restart.
//!
//! Flags and environment are those of the start, so it is the file that can bring something new. What is wrong with it
//! changes nothing.

use super::{descriptors, scheduler_options};
use crate::api::App;
use crate::cli::ServeArgs;
use crate::config::{Config, Given};
use crate::serve::room::ConnectionLimits;
use postrider_engine::Engine;
use std::sync::Arc;
use tokio::sync::watch;

/// What counts at once. Everything else is taken up by a start.
const LIMITS: [&str; 9] = [
    "slots",
    "priority_floors",
    "promotion_age_seconds",
    "backlog_max_rows",
    "backlog_max_bytes",
    "backlog_max_age",
    "commit_max_ms",
    "connections_max",
    "connections_per_address_max",
];

/// What follows the settings while the gateway runs.
pub(super) struct Reload {
    args: ServeArgs,
    /// What the settings were given when they were last taken up.
    given: Given,
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
        (Reload { args, given, engine, app, connections }, limits)
    }

    /// Whether there is a file that could bring something new.
    pub(super) fn has_file(&self) -> bool {
        self.args.config.is_some() || std::env::var_os("POSTRIDER_CONFIG").is_some()
    }

    /// Reads the settings again and takes up what can be taken up.
    pub(super) async fn reload(&mut self) {
        let config = match Config::read(&self.args, &super::environment()) {
            Ok(config) => descriptors::share_out(config),
            Err(mistakes) => {
                tracing::warn!(%mistakes, "failed to reload the settings; the gateway keeps those it has");
                return;
            }
        };
        let changed = self.given.changed(&config.given);
        let (limits, others): (Vec<&str>, Vec<&str>) =
            changed.into_iter().partition(|setting| LIMITS.contains(setting));
        if !others.is_empty() {
            let settings = others.join(", ");
            tracing::warn!(%settings, "these settings have changed and count from the next start");
        }
        self.engine.limit(scheduler_options(&config), config.backlog).await;
        self.connections.send_replace(config.connections);
        self.app.limit(&config);
        self.given = config.given;
        tracing::info!(changed = %limits.join(", "), "reloaded the settings");
    }
}
