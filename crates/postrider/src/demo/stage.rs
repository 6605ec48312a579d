//! What the demonstration stands on: a gateway with one destination that is healthy and four that misbehave, a second
//! one with a healthy destination alone, and the same load on both.

use super::figures::{Figures, Observed};
use super::healthy::Healthy;
use super::load::Load;
use super::site::Site;
use crate::terminal::counted;
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How the four beside the healthy one are met. Nobody listens on port 1.
const MISBEHAVING: [(&str, &str); 4] = [
    ("slow", "/slow/all?delay_ms=300"),
    ("flaky", "/flaky?status=500&percent=30"),
    ("hanging", "/hang/all"),
    ("down", "http://127.0.0.1:1/"),
];
/// For what is on its way to arrive after the load has ended.
const DRAIN: Duration = Duration::from_secs(15);

pub(super) struct Stage {
    site: Site,
    /// What the healthy one is compared with. It shares the machine with the other and nothing else, and has its load at
    /// the same time: so whatever else the machine does is in both. A comparison with an earlier time would take the
    /// machine's noise of later for the gateway's, and one with another destination of the same gateway would not see
    /// what holds up both.
    control: Site,
    load: Load,
    control_load: Load,
    circuit_opened: bool,
    runtime: Runtime,
}

impl Stage {
    pub(super) fn set(rate: u32) -> anyhow::Result<Stage> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (site, control) = (Site::set(&runtime)?, Site::set(&runtime)?);
        for (name, place) in MISBEHAVING {
            site.add(name, place)?;
        }
        let load = Load::start(site.another_client()?, rate)?;
        let control_load = Load::start(control.another_client()?, rate)?;
        Ok(Stage { site, control, load, control_load, circuit_opened: false, runtime })
    }

    pub(super) fn welcome(&self) -> String {
        let Site { address, chaos_address, key, .. } = &self.site;
        format!(
            "a gateway on http://{address} (its API: http://{address}/docs), receivers on http://{chaos_address} \
             (what they saw: /report)\nits dashboard: http://{address}/, sign in by {key}\nin another terminal:\n  export POSTRIDER_URL=http://{address} POSTRIDER_KEY={key}\n  \
             postrider events --tail\n  postrider top\n"
        )
    }

    pub(super) fn destinations(&mut self) -> anyhow::Result<Vec<Value>> {
        let listed = self.site.destinations()?;
        let is_open = |one: &Value| one["name"] == "down" && one["circuit_state"] != "closed";
        self.circuit_opened |= listed.iter().any(is_open);
        Ok(listed)
    }

    pub(super) fn head(&self, elapsed: Duration) -> Vec<String> {
        let Site { address, key, .. } = &self.site;
        let accepted = counted(self.load.accepted(), "event");
        vec![
            format!("Postrider on http://{address}, {} s: one healthy, four misbehaving", elapsed.as_secs()),
            format!("Open its dashboard there and sign in with {key}"),
            format!("{accepted} accepted, {} refused", self.load.refused()),
            String::new(),
        ]
    }

    /// Ends the load, lets what is on its way arrive, stops the gateways, and counts what was left.
    pub(super) fn end(mut self) -> anyhow::Result<Figures> {
        let (sent, sent_to_control) = (self.load.stop()?, self.control_load.stop()?);
        let refused = self.load.refused();
        let (site, control, began) = (&self.site, &self.control, Instant::now());
        let has_arrived = || site.has_arrived(&sent) && control.has_arrived(&sent_to_control);
        while began.elapsed() < DRAIN && !has_arrived() {
            std::thread::sleep(Duration::from_millis(50));
        }
        let destinations = self.destinations()?;
        let stats = self.site.client.read("/v1/stats", &[])?;
        let audit = self.site.stop(&self.runtime)?;
        self.control.stop(&self.runtime)?;
        Ok(Figures::of(&Observed {
            accepted: sent.len(),
            refused,
            healthy: Healthy::of(self.control.took(&sent_to_control), self.site.took(&sent)),
            circuit_opened: self.circuit_opened,
            report: &self.site.chaos.report(),
            destinations: &destinations,
            stats: &stats,
            audit: &audit,
        }))
    }
}
