//! A gateway as a process of its own on a temporary store, a receiver in this one, and an account whose events go from
//! the one to the other at each priority.

use super::load::Sent;
use crate::chaos::Chaos;
use crate::client::Client;
use anyhow::Context as _;
use postrider_bench::{Gateway, Scratch};
use postrider_store::DeliveryAudit;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Of the demonstration's own destinations, on this machine. Not a secret.
const SIGNING_SECRET: &str = "whsec_ZGVtb25zdHJhdGlvbi1ub3QtYS1zZWNyZXQh";
pub(super) const HEALTHY: &str = "/healthy";
/// By urgency, from critical to bulk.
pub(super) const TYPES: [&str; 4] = ["payment.made", "order.created", "user.changed", "report.ready"];
/// After which an attempt is given up on: what the one that hangs takes of everybody's time.
pub(super) const TIMEOUT_SECONDS: u64 = 2;

pub(super) struct Site {
    pub(super) client: Client,
    pub(super) key: String,
    pub(super) address: SocketAddr,
    pub(super) chaos: Arc<Chaos>,
    pub(super) chaos_address: SocketAddr,
    // Dropped in this order: the gateway ends, then its directory goes.
    gateway: Option<Gateway>,
    home: Scratch,
}

impl Site {
    /// With the healthy destination alone.
    pub(super) fn set(runtime: &Runtime) -> anyhow::Result<Site> {
        let home = Scratch::create(None)?;
        let gateway = runtime.block_on(Gateway::start(home.path(), &[]))?;
        let address = gateway.address();
        let (chaos, chaos_address) = receiver()?;
        let url = format!("http://{address}");
        let admin = Client::new(&url, Gateway::ADMIN_KEY, None)?;
        let account =
            admin.post("/v1/accounts", &json!({ "name": "demo" }))?.data().context("make an account")?;
        let key = account["api_key"]["key"].as_str().context("an account comes with a key")?.to_owned();
        let client = Client::new(&url, &key, None)?;
        let site = Site { client, key, address, chaos, chaos_address, gateway: Some(gateway), home };
        site.add("healthy", HEALTHY)?;
        Ok(site)
    }

    /// A client for a thread of its own.
    pub(super) fn another_client(&self) -> anyhow::Result<Client> {
        Client::new(&format!("http://{}", self.address), &self.key, None)
    }

    /// A destination at the receiver, or at a URL of its own, with a route at each priority.
    pub(super) fn add(&self, name: &str, place: &str) -> anyhow::Result<()> {
        let url = if place.starts_with('/') {
            format!("http://{}{place}", self.chaos_address)
        } else {
            place.to_owned()
        };
        let settings = json!({
            "name": name,
            "url": url,
            "signing_secret": SIGNING_SECRET,
            "max_concurrency": 20,
            "timeout_seconds": TIMEOUT_SECONDS,
            "retry_policy": { "delays_seconds": [1, 2, 4, 8, 16] },
            "circuit": { "threshold": 5, "cooldown_seconds": 5 },
        });
        let made = self.client.post("/v1/destinations", &settings)?.data()?;
        for (priority, kind) in (1..).zip(TYPES) {
            let route =
                json!({ "destination_id": made["id"], "event_type_pattern": kind, "priority": priority });
            self.client.post("/v1/routes", &route)?.data()?;
        }
        Ok(())
    }

    pub(super) fn destinations(&self) -> anyhow::Result<Vec<Value>> {
        let listed = self.client.read("/v1/destinations", &[])?;
        Ok(listed.as_array().cloned().unwrap_or_default())
    }

    /// Whether all of these came to the healthy destination.
    pub(super) fn has_arrived(&self, sent: &Sent) -> bool {
        self.chaos.report().succeeded(HEALTHY) >= sent.len() as u64
    }

    /// How long each took to the healthy destination, in milliseconds.
    pub(super) fn took(&self, sent: &Sent) -> Vec<f64> {
        let report = self.chaos.report();
        let took = |(id, sent_at): (&String, &std::time::Instant)| {
            Some(report.arrival(HEALTHY, id)?.duration_since(*sent_at).as_secs_f64() * 1000.0)
        };
        sent.iter().filter_map(took).collect()
    }

    /// Stops the gateway and walks what it has left.
    pub(super) fn stop(&mut self, runtime: &Runtime) -> anyhow::Result<DeliveryAudit> {
        if let Some(gateway) = self.gateway.take() {
            runtime.block_on(gateway.stop())?;
        }
        postrider_sqlite::audit(&self.home.path().join("data"), |_, _| {}).context("walk the store")
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
