//! Overload: for two minutes ten times more comes in than goes out. What is too much must be refused at once and with a
//! reason, what was accepted must go on, memory must not grow, and soon after the load all is as before.

use super::memory::{self, Samples};
use super::stage::Stage;
use super::{Comparison, Figure};
use crate::args::BenchArgs;
use crate::gateway::{NewDestination, Wire, knows_flag};
use crate::load::{LoadReport, Refused};
use crate::progress::progress;
use crate::receiver::{PathReport, Question};
use crate::role::{LoadOrder, Receiver, run_load};
use crate::scenario::run::all_accepted;
use crate::units::{float, mebibytes, milliseconds, number, per_second};
use crate::verdict::Goal;
use std::time::{Duration, Instant};

const REFUSAL_P99_MS_MAX: f64 = 10.0;
const DELIVERED_RATIO_MIN: f64 = 0.8;
/// What the allocator keeps and gives back is within this.
const GROWTH_MAX: f64 = 1.1;
/// From the end of the load until all that was accepted is delivered and a normal load is taken again.
const RECOVERED_S_MAX: f64 = 60.0;
/// 20 at a time of 50 ms each: 400 deliveries a second.
const SLOW_PATH: &str = "/delay/50/overload";
const MAX_CONCURRENCY: u32 = 20;
const OFFERED_PER_S: u32 = 4000;
const LIMIT_FLAG: &str = "--backlog-max-rows";

struct Size {
    backlog_max_rows: u64,
    offered: u64,
}

/// Ten times what goes out, for 120 s.
const FULL: Size = Size { backlog_max_rows: 4000, offered: 480_000 };
const QUICK: Size = Size { backlog_max_rows: 200, offered: 2000 };

struct Overload<'a> {
    stage: Stage<'a>,
    size: Size,
    wire: Wire,
}

pub(super) async fn measure(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Comparison> {
    let overload = Overload::set(args, receiver).await?;
    progress!("overload: as much as the backlog may hold");
    let without = overload.within().await?;
    progress!("overload: {} events at {OFFERED_PER_S}/s", overload.size.offered);
    receiver.reset().await?;
    let pid = overload.stage.gateway.pid();
    let (load, samples) = memory::watch(pid, overload.beyond()).await?;
    let ended = Instant::now();
    let with = receiver.report(&Question::under(SLOW_PATH)).await?.all;
    progress!("overload: until it has caught up");
    overload.delivered(load.accepted).await?;
    let recovered = ended.elapsed();
    receiver.reset().await?;
    let after = overload.within().await?;
    Ok(overload.judge(&Seen { without, with, after, load, samples, recovered }))
}

/// What was measured.
struct Seen {
    without: PathReport,
    with: PathReport,
    after: PathReport,
    load: LoadReport,
    samples: Samples,
    /// From the end of the load until all that was accepted of it was delivered.
    recovered: Duration,
}

impl<'a> Overload<'a> {
    async fn set(args: &'a BenchArgs, receiver: &'a Receiver) -> anyhow::Result<Overload<'a>> {
        let size = args.size_of(FULL, QUICK);
        let mut limits = Vec::new();
        if knows_flag(LIMIT_FLAG).await? {
            limits.push(format!("{LIMIT_FLAG}={}", size.backlog_max_rows));
        } else {
            progress!("overload: this gateway has no {LIMIT_FLAG}, so its own limits are measured");
        }
        let stage = Stage::set(args, receiver, &limits).await?;
        let wanted = NewDestination {
            max_concurrency: MAX_CONCURRENCY,
            ..NewDestination::to("overload", &receiver.url(SLOW_PATH))
        };
        let wire = stage.gateway.account().wire(&wanted).await?;
        Ok(Overload { stage, size, wire })
    }

    /// A backlog that stays below its limit, delivered to the end.
    async fn within(&self) -> anyhow::Result<PathReport> {
        let events = self.size.backlog_max_rows / 2;
        let order = LoadOrder { refused: Refused::Dropped, ..LoadOrder::at_once(events) };
        let load = run_load(self.stage.args, &order, &self.urls()).await?;
        all_accepted(&load, events)?;
        self.delivered(events).await
    }

    /// Waits until so many have come.
    async fn delivered(&self, events: u64) -> anyhow::Result<PathReport> {
        let question = Question::under(SLOW_PATH);
        Ok(self.stage.receiver.wait_for_all_of(&question, events, self.stage.deadline()).await?.all)
    }

    async fn beyond(&self) -> anyhow::Result<LoadReport> {
        let order =
            LoadOrder { refused: Refused::Dropped, ..LoadOrder::paced(self.size.offered, OFFERED_PER_S) };
        run_load(self.stage.args, &order, &self.urls()).await
    }

    fn urls(&self) -> [String; 1] {
        [self.stage.gateway.ingest_url(&self.wire)]
    }

    fn judge(&self, seen: &Seen) -> Comparison {
        let Seen { load, samples, .. } = seen;
        let title = format!(
            "Overload: {} events at {}/s for a backlog of {} and a destination that takes 400/s",
            number(self.size.offered),
            number(OFFERED_PER_S.into()),
            number(self.size.backlog_max_rows)
        );
        let rates = [&seen.without, &seen.with, &seen.after].map(delivered_per_s);
        let [rate_without, rate_with, rate_after] = rates;
        let figures = vec![
            Figure::both("delivered per s", rate_without, rate_with),
            Figure::with("delivered per s afterwards", rate_after),
            Figure::with("accepted", float(load.accepted)),
            Figure::with("refused", float(load.refused)),
            Figure::with("neither", float(load.failed)),
            Figure::with("answer 202 p99 ms", milliseconds(load.p99_us)),
            Figure::with("refusal p50 ms", milliseconds(load.refusal_p50_us)),
            Figure::with("rss max MiB", mebibytes(samples.max_bytes())),
        ];
        let goals = vec![
            Goal::at_least("refusals", float(load.refused), 1.0),
            Goal::at_most("refusal p99 ms", milliseconds(load.refusal_p99_us), REFUSAL_P99_MS_MAX),
            Goal::at_most("refusals without a time or a code", float(load.refusals_unexplained), 0.0)
                .in_every_round(),
            Goal::at_most("neither accepted nor refused", float(load.failed), 0.0).in_every_round(),
            Goal::at_most("rss, second half by first", samples.growth(), GROWTH_MAX),
            Goal::at_least("delivered per s, with by without", rate_with / rate_without, DELIVERED_RATIO_MIN),
            Goal::at_most("s until it has caught up", seen.recovered.as_secs_f64(), RECOVERED_S_MAX),
            Goal::at_least(
                "delivered per s, after by without",
                rate_after / rate_without,
                DELIVERED_RATIO_MIN,
            ),
        ];
        Comparison::new("overload", title, ["without", "with"], figures, goals)
    }
}

/// From the first arrival to the last.
fn delivered_per_s(received: &PathReport) -> f64 {
    per_second(received.unique, Duration::from_nanos(received.last_ns.saturating_sub(received.first_ns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_over_the_time_between_the_first_and_the_last_arrival() {
        let received = PathReport {
            unique: 500,
            first_sent_ns: 0,
            first_ns: 1_000_000_000,
            last_ns: 2_000_000_000,
            ..PathReport::default()
        };
        assert!((delivered_per_s(&received) - 500.0).abs() < 1e-9);
    }
}
