//! One run: a load through the process under test into the receiver, and what that cost.

use crate::args::BenchArgs;
use crate::load::LoadReport;
use crate::procfs;
use crate::receiver::PathReport;
use crate::role::{LoadOrder, Receiver, run_load};
use crate::units::{float, mebibytes, milliseconds, per_second};
use serde::Serialize;
use std::time::Duration;

/// What the gateway still does when the last event has arrived, such as recording that it did, is part of the
/// price.
const SETTLE: Duration = Duration::from_millis(500);

/// Figures of one run. Receipt is from the event's time to its arrival at the receiver, answer to the 2xx.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Run {
    pub(crate) events: u64,
    pub(crate) delivered_per_s: f64,
    pub(crate) accepted_per_s: f64,
    pub(crate) cpu_us_per_event: f64,
    pub(crate) receipt_p50_us: u64,
    pub(crate) receipt_p99_us: u64,
    pub(crate) receipt_max_us: u64,
    pub(crate) answer_p50_us: u64,
    pub(crate) answer_p99_us: u64,
    pub(crate) refused: u64,
    pub(crate) duplicates: u64,
    pub(crate) rss_idle_bytes: u64,
    pub(crate) rss_peak_bytes: u64,
}

/// A figure's name with its unit, and how to get it from a run.
pub(crate) type Compared = (&'static str, fn(&Run) -> f64);

/// The figures that are compared over rounds and subjects, as a reader wants them.
pub(crate) const COMPARED: [Compared; 8] = [
    ("delivered per s", |run| run.delivered_per_s),
    ("cpu µs per event", |run| run.cpu_us_per_event),
    ("receipt p50 ms", |run| milliseconds(run.receipt_p50_us)),
    ("receipt p99 ms", |run| milliseconds(run.receipt_p99_us)),
    ("answer p50 ms", |run| milliseconds(run.answer_p50_us)),
    ("answer p99 ms", |run| milliseconds(run.answer_p99_us)),
    ("rss idle MiB", |run| mebibytes(run.rss_idle_bytes)),
    ("rss peak MiB", |run| mebibytes(run.rss_peak_bytes)),
];

/// Measures the process `pid`, which has just become ready, as the events go through it.
pub(crate) async fn measure(
    args: &BenchArgs,
    pid: u32,
    urls: &[String],
    receiver: &Receiver,
) -> anyhow::Result<Run> {
    receiver.reset().await?;
    let rss_idle_bytes = procfs::rss_bytes(pid)?;
    let cpu_before = procfs::cpu_time(pid)?;
    let load = run_load(args, &LoadOrder::at_once(args.events), urls).await?;
    all_accepted(&load, args.events)?;
    let received = receiver.wait_for(load.accepted, args.deadline()).await?.all;
    tokio::time::sleep(SETTLE).await;
    let cpu = procfs::cpu_time(pid)?.saturating_sub(cpu_before);
    let rss_peak_bytes = procfs::rss_peak_bytes(pid)?;
    Ok(Run {
        events: load.accepted,
        delivered_per_s: per_second(received.unique, span(&received)),
        accepted_per_s: per_second(load.accepted, Duration::from_secs_f64(load.seconds)),
        cpu_us_per_event: cpu.as_secs_f64() * 1e6 / float(load.accepted),
        receipt_p50_us: received.p50_us,
        receipt_p99_us: received.p99_us,
        receipt_max_us: received.max_us,
        answer_p50_us: load.p50_us,
        answer_p99_us: load.p99_us,
        refused: load.refused,
        duplicates: received.count - received.unique,
        rss_idle_bytes,
        rss_peak_bytes,
    })
}

/// An event that was neither accepted nor refused makes every other figure of a run worthless.
pub(crate) fn all_accepted(load: &LoadReport, events: u64) -> anyhow::Result<()> {
    let why = load.first_failure.as_deref().unwrap_or("time was up");
    anyhow::ensure!(
        load.accepted == events,
        "only {} of {events} events were accepted: {why}",
        load.accepted
    );
    Ok(())
}

/// From the first event's time to the last arrival.
fn span(received: &PathReport) -> Duration {
    Duration::from_nanos(received.last_ns.saturating_sub(received.first_sent_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_lasts_from_the_first_send_to_the_last_arrival() {
        let received = PathReport {
            count: 1000,
            unique: 1000,
            p50_us: 1,
            p99_us: 1,
            max_us: 1,
            first_sent_ns: 1_000_000_000,
            first_ns: 1_400_000_000,
            last_ns: 1_500_000_000,
            rejected: 0,
            withheld: 0,
        };
        assert_eq!(span(&received), Duration::from_millis(500));
    }
}
