//! The first page: what is wrong, what comes in and goes out, how much waits and where, and which destinations are worst
//! off.

mod diagnosis;
mod traffic;

use super::Shared;
use super::answer::{Frame, Refused, shown};
use super::chart::{Chart, Value as Bar};
use super::guard::Visitor;
use super::health::{self, Health};
use super::inside::{Inside, part, path, segment};
use super::session::Session;
use super::show;
use crate::doctor::Finding;
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use postrider_core::time::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use traffic::{Series, Traffic};

/// Destinations on the page. More are asked for, since what the doctor says is about all.
const WORST_MAX: usize = 10;
/// Findings on the page: with the longest names that there can be it is below 100 kB.
const FINDINGS_MAX: usize = 20;

#[derive(Deserialize)]
struct Queue {
    taken_at: String,
    total: Waits,
    slots: Option<Slots>,
    by_priority: Vec<Waits>,
    by_account: Vec<OfAccount>,
    items: Vec<Waiting>,
}

#[derive(Deserialize)]
struct Waits {
    priority: Option<u8>,
    pending: u64,
    oldest_seconds: f64,
}

#[derive(Deserialize)]
struct OfAccount {
    account_id: String,
    name: Option<String>,
}

#[derive(Deserialize)]
struct Slots {
    used: u64,
    total: u64,
}

/// A destination that is owed something.
#[derive(Deserialize)]
struct Waiting {
    destination_id: String,
    account_id: String,
    name: String,
    pending: u64,
    oldest_seconds: f64,
    in_flight: u32,
    concurrency: Limit,
    circuit_state: String,
    waiting_for: String,
    waiting_until: Option<String>,
    /// Of the account whose pages are shown; another's are opened by looking at that account.
    #[serde(skip)]
    is_ours: bool,
}

#[derive(Deserialize)]
struct Limit {
    limit: u32,
}

#[derive(Deserialize)]
struct Stats {
    by_status: Vec<StatusCount>,
    daily: Vec<Day>,
}

#[derive(Deserialize)]
struct StatusCount {
    status: String,
    count: i64,
}

#[derive(Deserialize)]
struct Day {
    date: String,
    inbound: i64,
    outbound: i64,
    delivered: i64,
    failed: i64,
}

#[derive(Deserialize)]
struct Platform {
    events_processed: i64,
    events_delivered: i64,
    delivery_attempts: i64,
    success_rate_pct: f64,
}

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    frame: Frame,
    queue: Queue,
    stats: Stats,
    platform: Platform,
    /// Of the whole gateway, for those who may see it.
    traffic: Option<Traffic>,
    /// Of one account, for whoever sees that one alone.
    health: Option<Health>,
    findings: Vec<Finding>,
    findings_left_out: u64,
    days: Chart,
    has_destinations: bool,
}

pub(super) async fn page(State(desk): Shared, Visitor(session): Visitor) -> Response {
    shown(&session, look(&desk.api, &session).await)
}

async fn look(api: &Inside, session: &Session) -> Result<Overview, Refused> {
    let asked = [("limit", Some("200")), ("account_id", session.account.as_deref())];
    let seen: Value = api.get(session, &path("/v1/queue", &asked)).await?;
    let mut queue: Queue = part(&seen)?;
    queue.items.retain(|waiting| waiting.pending > 0 || waiting.circuit_state != "closed");
    queue.items.truncate(WORST_MAX);
    for waiting in &mut queue.items {
        let at = format!("/v1/destinations/{}", segment(&waiting.destination_id));
        waiting.is_ours = api.get::<IgnoredAny>(session, &at).await.is_ok();
    }
    let now = Timestamp::parse_rfc3339(&queue.taken_at).unwrap_or_default();
    let stats: Stats = api.get(session, "/v1/stats").await?;
    let traffic = traffic(api, session, now).await;
    let health = if traffic.is_none() { Some(health::of_account(api, session).await) } else { None };
    let mut findings =
        diagnosis::ask(api, session, &seen, traffic.as_ref().map_or(0, Traffic::shed_lately), now).await;
    let findings_left_out = findings.len().saturating_sub(FINDINGS_MAX) as u64;
    findings.truncate(FINDINGS_MAX);
    Ok(Overview {
        frame: Frame::of(Some(session), "overview"),
        traffic,
        health,
        findings,
        findings_left_out,
        days: days(&stats.daily),
        queue,
        stats,
        platform: api.get(session, "/v1/platform-stats").await?,
        has_destinations: !api
            .list::<IgnoredAny>(session, "/v1/destinations?limit=1")
            .await?
            .items
            .is_empty(),
    })
}

/// Only the operator sees what the whole gateway does, and not while it looks at one account.
async fn traffic(api: &Inside, session: &Session, now: Timestamp) -> Option<Traffic> {
    if session.account.is_some() {
        return None;
    }
    let by_minute: Series = api.get(session, "/v1/stats/series?resolution=1m").await.ok()?;
    let by_second: Series = api.get(session, "/v1/stats/series?resolution=1s").await.ok()?;
    Some(Traffic::of(by_minute, &by_second, now))
}

/// What ended on each of the last days.
fn days(daily: &[Day]) -> Chart {
    let count = |number: i64| u64::try_from(number).unwrap_or(0);
    let bars: Vec<Bar> = daily
        .iter()
        .map(|day| {
            let (good, bad) = (count(day.delivered), count(day.failed));
            let title =
                format!("{}: {} delivered, {} dead letters", day.date, show::count(&good), show::count(&bad));
            Bar { at: day.date.clone(), parts: vec![("", good), ("bad", bad)], title }
        })
        .collect();
    Chart::new("Delivered, with dead letters on top", &bars, |most| {
        format!("peak {} per day", show::count(&most))
    })
}

impl Stats {
    /// Events of the account that nothing is sent for.
    fn unrouted(&self) -> i64 {
        let accepted = self.by_status.iter().find(|counted| counted.status == "accepted");
        accepted.map_or(0, |counted| counted.count)
    }
}

impl Slots {
    /// Of a hundred, how many are in use.
    fn share(&self) -> u64 {
        self.used.saturating_mul(100) / self.total.max(1)
    }
}

impl Queue {
    fn account<'a>(&'a self, waiting: &'a Waiting) -> &'a str {
        let id = &waiting.account_id;
        let known = self.by_account.iter().find(|known| known.account_id == *id);
        known.and_then(|known| known.name.as_deref()).unwrap_or(id)
    }
}

impl Overview {
    /// Of a hundred, for the bar of a priority.
    fn share(&self, waits: &Waits) -> u64 {
        let most = self.queue.by_priority.iter().map(|waits| waits.pending).max().unwrap_or(0).max(1);
        waits.pending * 100 / most
    }
}
