//! Steady traffic to a healthy destination, and how long its events take: the figure that a backlog elsewhere
//! must not move.

use super::run::all_accepted;
use crate::args::BenchArgs;
use crate::event::EVENTS_MAX;
use crate::gateway::{Gateway, Wire};
use crate::role::{LoadOrder, Receiver, run_load};
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Healthy {
    pub(crate) events: u64,
    pub(crate) receipt_p50_us: u64,
    pub(crate) receipt_p99_us: u64,
    pub(crate) receipt_max_us: u64,
    pub(crate) answer_p99_us: u64,
    pub(crate) refused: u64,
    pub(crate) duplicates: u64,
}

pub(crate) async fn measure(
    args: &BenchArgs,
    gateway: &Gateway,
    wire: &Wire,
    receiver: &Receiver,
) -> anyhow::Result<Healthy> {
    receiver.reset().await?;
    let events = u64::from(args.rate_per_s()) * u64::from(args.rate_seconds);
    anyhow::ensure!(events <= EVENTS_MAX, "--rate and --rate-seconds make more than {EVENTS_MAX} events");
    let order = LoadOrder::paced(events, args.rate_per_s());
    let load = run_load(args, &order, &[gateway.ingest_url(wire)]).await?;
    all_accepted(&load, events)?;
    let received = receiver.wait_for(events, args.deadline()).await?.all;
    Ok(Healthy {
        events,
        receipt_p50_us: received.p50_us,
        receipt_p99_us: received.p99_us,
        receipt_max_us: received.max_us,
        answer_p99_us: load.p99_us,
        refused: load.refused,
        duplicates: received.count - received.unique,
    })
}
