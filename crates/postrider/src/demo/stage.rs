//! What the demonstration stands on: a gateway as a process of its own on a temporary store, a receiver in this one,
//! an account with its destinations and routes, and the load.

use super::figures::{Figures, Observed};
use super::load::Load;
use crate::chaos::Chaos;
use crate::client::Client;
use anyhow::Context as _;
use postrider_bench::{Gateway, Scratch};
use postrider_sqlite::Audit;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Of the demonstration's own destinations, on this machine. Not a secret.
const SIGNING_SECRET: &str = "whsec_ZGVtb25zdHJhdGlvbi1ub3QtYS1zZWNyZXQh";
/// How the other four are met; the first one is healthy. Nobody listens on port 1.
const JOINING: [(&str, &str); 4] = [
    ("slow", "/slow/all?delay_ms=300"),
    ("flaky", "/flaky?status=500&percent=30"),
    ("hanging", "/hang/all"),
    ("down", "http://127.0.0.1:1/"),
];
pub(super) const HEALTHY: &str = "/healthy";
/// By urgency, from critical to bulk.
pub(super) const TYPES: [&str; 4] = ["payment.made", "order.created", "user.changed", "report.ready"];
/// After which an attempt is given up on: what the one that hangs takes of everybody's time.
pub(super) const TIMEOUT_SECONDS: u64 = 2;
/// For what is on its way to arrive after the load has ended.
const DRAIN: Duration = Duration::from_secs(15);

pub(super) struct Stage {
    client: Client,
    key: String,
    address: SocketAddr,
    chaos: Arc<Chaos>,
    chaos_address: SocketAddr,
    load: Load,
    /// Since when all five are there.
    joined_at: Option<Instant>,
    circuit_opened: bool,
    // Dropped in this order: the gateway ends, then its directory goes.
    gateway: Option<Gateway>,
    runtime: Runtime,
    home: Scratch,
}

impl Stage {
    pub(super) fn set(rate: u32) -> anyhow::Result<Stage> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let home = Scratch::create(None)?;
        let gateway = runtime.block_on(Gateway::start(home.path(), &[]))?;
        let address = gateway.address();
        let (chaos, chaos_address) = receiver()?;
        let url = format!("http://{address}");
        let admin = Client::new(&url, Gateway::ADMIN_KEY, None)?;
        let account =
            admin.post("/v1/accounts", &json!({ "name": "demo" }))?.data().context("make an account")?;
        let key = account["api_key"].as_str().context("an account comes with a key")?.to_owned();
        let client = Client::new(&url, &key, None)?;
        let stage_url = format!("http://{chaos_address}{HEALTHY}");
        destination(&client, "healthy", &stage_url)?;
        let load = Load::start(Client::new(&url, &key, None)?, rate)?;
        Ok(Stage {
            client,
            key,
            address,
            chaos,
            chaos_address,
            load,
            joined_at: None,
            circuit_opened: false,
            gateway: Some(gateway),
            runtime,
            home,
        })
    }

    pub(super) fn welcome(&self) -> String {
        let Stage { address, chaos_address, key, .. } = self;
        format!(
            "a gateway on http://{address} (its API: http://{address}/docs), receivers on http://{chaos_address} \
             (what they saw: /report)\nits dashboard: http://{address}/, sign in by {key}\nin another terminal:\n  export POSTRIDER_URL=http://{address} POSTRIDER_KEY={key}\n  \
             postrider events --tail\n  postrider top\n"
        )
    }

    /// The four that misbehave, once.
    pub(super) fn join(&mut self) -> anyhow::Result<()> {
        if self.joined_at.is_some() {
            return Ok(());
        }
        for (name, place) in JOINING {
            let url = if place.starts_with('/') {
                format!("http://{}{place}", self.chaos_address)
            } else {
                place.to_owned()
            };
            destination(&self.client, name, &url)?;
        }
        self.joined_at = Some(Instant::now());
        Ok(())
    }

    pub(super) fn destinations(&mut self) -> anyhow::Result<Vec<Value>> {
        let listed = self.client.read("/v1/destinations", &[])?;
        let listed = listed.as_array().cloned().unwrap_or_default();
        let is_open = |one: &Value| one["name"] == "down" && one["circuit_state"] != "closed";
        self.circuit_opened |= listed.iter().any(is_open);
        Ok(listed)
    }

    pub(super) fn head(&self, elapsed: Duration) -> Vec<String> {
        let who =
            if self.joined_at.is_some() { "one healthy, four misbehaving" } else { "the healthy one alone" };
        vec![
            format!("Postrider on http://{}, {} s: {who}", self.address, elapsed.as_secs()),
            format!("Its dashboard is there too; sign in by {}", self.key),
            format!("{} events accepted, {} refused", self.load.accepted(), self.load.refused()),
            String::new(),
        ]
    }

    /// Ends the load, lets what is on its way arrive, stops the gateway, and counts what it has left.
    pub(super) fn end(mut self) -> anyhow::Result<Figures> {
        let sent = self.load.stop()?;
        let refused = self.load.refused();
        let began = Instant::now();
        while began.elapsed() < DRAIN && self.chaos.report().succeeded(HEALTHY) < sent.len() as u64 {
            std::thread::sleep(Duration::from_millis(50));
        }
        let destinations = self.destinations()?;
        let stats = self.client.read("/v1/stats", &[])?;
        if let Some(gateway) = self.gateway.take() {
            self.runtime.block_on(gateway.stop())?;
        }
        let audit = Audit::of(&self.home.path().join("data")).context("walk the store")?;
        let report = self.chaos.report();
        let figures = Figures::of(&Observed {
            sent: &sent,
            refused,
            joined_at: self.joined_at,
            circuit_opened: self.circuit_opened,
            report: &report,
            destinations: &destinations,
            stats: &stats,
            audit: &audit,
        });
        drop(report);
        Ok(figures)
    }
}

/// On a thread of its own, for as long as this process lives.
fn receiver() -> anyhow::Result<(Arc<Chaos>, SocketAddr)> {
    let chaos = Chaos::new(Some(SIGNING_SECRET), 1)?;
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).context("listen on this machine")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let serving = Arc::clone(&chaos);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let serve = move || {
        let _ = runtime.block_on(async { serving.serve(tokio::net::TcpListener::from_std(listener)?).await });
    };
    std::thread::Builder::new().name("receiver".to_owned()).spawn(serve).context("start the receiver")?;
    Ok((chaos, address))
}

/// With a route at each priority.
fn destination(client: &Client, name: &str, url: &str) -> anyhow::Result<()> {
    let settings = json!({
        "name": name,
        "url": url,
        "signing_secret": SIGNING_SECRET,
        "max_concurrency": 20,
        "timeout_seconds": TIMEOUT_SECONDS,
        "retry_policy": { "delays_seconds": [1, 2, 4, 8, 16] },
        "circuit": { "threshold": 5, "cooldown_seconds": 5 },
    });
    let made = client.post("/v1/destinations", &settings)?.data()?;
    for (priority, kind) in (1..).zip(TYPES) {
        let route = json!({ "destination_id": made["id"], "event_type_pattern": kind, "priority": priority });
        client.post("/v1/routes", &route)?.data()?;
    }
    Ok(())
}
