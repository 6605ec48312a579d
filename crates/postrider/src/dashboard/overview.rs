//! The first page: how much waits and where, what came in and went out, and which destinations are worst off.

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
struct Queue {
    total: Waits,
    slots: Option<Slots>,
    by_priority: Vec<Waits>,
    items: Vec<Waiting>,
}

#[derive(Deserialize)]
struct Waits {
    priority: Option<u8>,
    pending: u64,
    oldest_seconds: f64,
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
    name: String,
    pending: u64,
    oldest_seconds: f64,
    in_flight: u32,
    concurrency: Limit,
    circuit_state: String,
    waiting_for: String,
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
    has_destinations: bool,
}

pub(super) async fn page(State(desk): Shared, Visitor(session): Visitor) -> Response {
    shown(&session, look(&desk.api, &session).await)
}

async fn look(api: &Inside, session: &Session) -> Result<Overview, Refused> {
    Ok(Overview {
        frame: Frame::of(Some(session), "overview"),
        queue: api.get(session, "/v1/queue?limit=10").await?,
        stats: api.get(session, "/v1/stats").await?,
        platform: api.get(session, "/v1/platform-stats").await?,
        has_destinations: !api
            .list::<serde::de::IgnoredAny>(session, "/v1/destinations?limit=1")
            .await?
            .items
            .is_empty(),
    })
}

/// Where the bar of a day stands and how high it is, in a box of 600 by 100.
struct Bar<'a> {
    x: usize,
    width: usize,
    /// Of what was delivered, and on top of it what was given up on.
    delivered: u64,
    failed: u64,
    day: &'a Day,
}

impl Overview {
    const BAR_STEP: usize = 20;

    fn bars(&self) -> Vec<Bar<'_>> {
        let ended = |day: &Day| u64::try_from(day.delivered + day.failed).unwrap_or(0);
        let most = self.stats.daily.iter().map(ended).max().unwrap_or(0).max(1);
        let height = |count: i64| u64::try_from(count).unwrap_or(0) * 100 / most;
        let bar = |(place, day): (usize, &'_ Day)| {
            (place * Self::BAR_STEP, height(day.delivered), height(day.failed))
        };
        let shapes: Vec<_> = self.stats.daily.iter().enumerate().map(bar).collect();
        let days = shapes.into_iter().zip(&self.stats.daily);
        days.map(|((x, delivered, failed), day)| Bar { x, width: Self::BAR_STEP - 4, delivered, failed, day })
            .collect()
    }

    /// Of a hundred, for the bar of a priority.
    fn share(&self, waits: &Waits) -> u64 {
        let most = self.queue.by_priority.iter().map(|waits| waits.pending).max().unwrap_or(0).max(1);
        waits.pending * 100 / most
    }
}
