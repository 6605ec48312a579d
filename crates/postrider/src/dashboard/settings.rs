//! How the gateway is set up, and how much of each limit is used.

use super::Shared;
use super::answer::{Frame, Refused, shown};
use super::guard::Visitor;
use super::inside::Inside;
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

#[derive(Deserialize)]
struct Settings {
    version: String,
    store: String,
    public_url: String,
    https_only: bool,
    egress_allow: Vec<String>,
    retention_days: u32,
    retention_bytes: Option<u64>,
    store_bytes: u64,
    disk_free_bytes: Option<u64>,
    disk_reserve_bytes: Option<u64>,
    slots: u32,
    workers: u32,
    backlog_max_rows: u64,
    backlog_max_bytes: u64,
    backlog_max_age_seconds: u64,
    commit_max_ms: u64,
    connections_max: u64,
    connections_per_address_max: u64,
    promotion_age_seconds: Option<u64>,
    grace_seconds: u64,
    lease_seconds: Option<u64>,
    dead_letter_file: bool,
    traces: bool,
}

#[derive(Deserialize)]
struct Queue {
    total: Waits,
    slots: Option<Slots>,
}

#[derive(Deserialize)]
struct Waits {
    pending: u64,
    oldest_seconds: f64,
}

#[derive(Deserialize)]
struct Slots {
    used: u64,
}

#[derive(Deserialize)]
struct Cluster {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    activity: Option<Activity>,
}

#[derive(Deserialize)]
struct Activity {
    pending_bytes: u64,
}

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    frame: Frame,
    set: Settings,
    queue: Queue,
    pending_bytes: u64,
}

pub(super) async fn page(State(desk): Shared, Visitor(session): Visitor) -> Response {
    shown(&session, look(&desk.api, &session).await)
}

async fn look(api: &Inside, session: &Session) -> Result<SettingsPage, Refused> {
    let cluster: Cluster = api.get(session, "/v1/cluster").await?;
    let told = cluster.nodes.iter().filter_map(|node| node.activity.as_ref());
    Ok(SettingsPage {
        frame: Frame::of(Some(session), "settings"),
        set: api.get(session, "/v1/settings").await?,
        queue: api.get(session, "/v1/queue?limit=1").await?,
        pending_bytes: told.map(|told| told.pending_bytes).sum(),
    })
}

/// A limit beside what is used of it.
struct Limit {
    setting: &'static str,
    meaning: &'static str,
    used: String,
    most: String,
    /// Of a hundred, for a bar.
    share: Option<u64>,
}

impl SettingsPage {
    fn limits(&self) -> Vec<Limit> {
        let (set, waits) = (&self.set, &self.queue.total);
        let slots = self.queue.slots.as_ref().map_or(0, |slots| slots.used);
        let connections =
            [set.connections_max, set.connections_per_address_max].map(|most| show::count(&most)).join(", ");
        vec![
            Limit::counted("slots", "Concurrent attempts", slots, set.slots.into()),
            Limit::counted(
                "backlog_max_rows",
                "Pending deliveries; events are refused above it",
                waits.pending,
                set.backlog_max_rows,
            ),
            Limit {
                used: show::bytes(&self.pending_bytes),
                most: show::bytes(&set.backlog_max_bytes),
                ..Limit::counted(
                    "backlog_max_bytes",
                    "Bytes of pending deliveries",
                    self.pending_bytes,
                    set.backlog_max_bytes,
                )
            },
            Limit {
                used: show::seconds(&waits.oldest_seconds),
                ..Limit::of(
                    "backlog_max_age",
                    "Age of the oldest pending delivery",
                    seconds(set.backlog_max_age_seconds),
                )
            },
            Limit::of(
                "commit_max_ms",
                "Commit latency; events are refused above it",
                format!("{} ms", set.commit_max_ms),
            ),
            Limit::of("connections_max", "Connections, and per address", connections),
        ]
    }

    fn promotion(&self) -> String {
        self.set.promotion_age_seconds.map_or_else(|| "never".to_owned(), seconds)
    }

    fn grace(&self) -> String {
        seconds(self.set.grace_seconds)
    }

    fn lease(&self) -> Option<String> {
        self.set.lease_seconds.map(seconds)
    }
}

impl Limit {
    fn of(setting: &'static str, meaning: &'static str, most: String) -> Self {
        Limit { setting, meaning, used: String::new(), most, share: None }
    }

    fn counted(setting: &'static str, meaning: &'static str, used: u64, most: u64) -> Self {
        let share = share(used, most);
        Limit {
            used: show::count(&used),
            share: Some(share),
            ..Limit::of(setting, meaning, show::count(&most))
        }
    }
}

fn share(used: u64, most: u64) -> u64 {
    u64::try_from(u128::from(used) * 100 / u128::from(most.max(1))).unwrap_or(100).min(100)
}

fn seconds(seconds: u64) -> String {
    show::seconds(&(seconds as f64))
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn a_bar_is_never_longer_than_its_box() {
        assert_eq!(share(0, 0), 0);
        assert_eq!(share(1, 4), 25);
        assert_eq!(share(u64::MAX, 1), 100);
        assert_eq!(share(u64::MAX, u64::MAX), 100);
    }
}
