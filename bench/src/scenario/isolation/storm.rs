//! Storm: one destination failed ten thousand events, and all of them come due again at once. Fresh events to it and
//! to others must not wait behind them.

use super::stage::{Stage, p99_ratio, receipts};
use super::{Comparison, Figure};
use crate::args::BenchArgs;
use crate::event::unix_now_ns;
use crate::gateway::{Guards, NewDestination, Wire};
use crate::progress::progress;
use crate::receiver::{PathReport, Question};
use crate::role::{LoadOrder, Receiver, run_load};
use crate::scenario::run::all_accepted;
use crate::units::{float, number};
use crate::verdict::Goal;
use serde_json::json;
use std::time::Duration;

const RATIO_MAX: f64 = 2.0;
const OTHERS: u8 = 4;
const OTHERS_UNDER: &str = "/hook/";
/// 20 at a time of 20 ms each: the retries keep the destination busy for about ten seconds, as long as the fresh
/// events flow.
const STORM_PATH: &str = "/failing/20/storm";
const MAX_CONCURRENCY: u32 = 20;
/// None is given up on, however long a busy machine takes over the outage.
const ATTEMPTS_MAX: u32 = 100;
const LOAD_FRESH: u8 = 0;
const LOAD_STORM: u8 = 1;

struct Size {
    /// A little more than the retries: an outage lets one in some thousands succeed.
    events: u64,
    /// Long enough for all to fail before the first is due again.
    retry_seconds: u64,
}

const FULL: Size = Size { events: 10_010, retry_seconds: 30 };
const QUICK: Size = Size { events: 200, retry_seconds: 1 };

struct Storm<'a> {
    stage: Stage<'a>,
    size: Size,
    wire: Wire,
    fresh_urls: Vec<String>,
}

/// Receipt of fresh events.
struct Fresh {
    others: PathReport,
    same: PathReport,
}

pub(super) async fn measure(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Comparison> {
    let storm = Storm::set(args, receiver).await?;
    progress!("storm: fresh events before it");
    let order = storm.stage.fresh_order()?;
    storm.stage.warm_up(&order, &storm.fresh_urls, &Question::default()).await?;
    let without = storm.fresh().await?;
    let retries = storm.brew().await?;
    progress!("storm: {retries} retries are due; fresh events among them");
    receiver.reset().await?;
    let began_ns = unix_now_ns();
    storm.stage.gateway.account().resume(&storm.wire).await?;
    let with = storm.fresh().await?;
    let question = Question::under(STORM_PATH).of_load(LOAD_STORM);
    let over = receiver.wait_for_all_of(&question, retries, storm.stage.deadline()).await?.all;

    let title = format!(
        "Storm: {} retries due at once, {} at a time; {}/s of fresh events, a fifth of them to the same destination",
        number(retries),
        MAX_CONCURRENCY,
        number(args.rate_per_s().into())
    );
    let mut figures =
        receipts(["others' receipt p50 ms", "others' receipt p99 ms"], &without.others, &with.others)
            .to_vec();
    figures.extend(receipts(["same's receipt p50 ms", "same's receipt p99 ms"], &without.same, &with.same));
    let drained_ns = over.last_ns.saturating_sub(began_ns);
    figures.push(Figure::with("retries drained after s", Duration::from_nanos(drained_ns).as_secs_f64()));
    let goals = vec![
        Goal::at_most("others' p99, with by without", p99_ratio(&without.others, &with.others), RATIO_MAX),
        Goal::at_most("same's p99, with by without", p99_ratio(&without.same, &with.same), RATIO_MAX),
        Goal::at_least("retries received", float(over.unique), float(retries)).in_every_round(),
    ];
    Ok(Comparison::new("storm", title, ["without", "with"], figures, goals))
}

impl<'a> Storm<'a> {
    async fn set(args: &'a BenchArgs, receiver: &'a Receiver) -> anyhow::Result<Storm<'a>> {
        let size = args.size_of(FULL, QUICK);
        let stage = Stage::set(args, receiver, &[]).await?;
        let account = stage.gateway.account();
        let wanted = NewDestination {
            max_concurrency: MAX_CONCURRENCY,
            retry_policy: Some(json!({
                "delays_seconds": [size.retry_seconds], "max_attempts": ATTEMPTS_MAX, "jitter": "none",
            })),
            guards: Guards::Off,
            ..NewDestination::to("storm", &receiver.url(STORM_PATH))
        };
        let wire = account.wire(&wanted).await?;
        let same = account.second_source(&wire, "fresh to the same").await?;
        let mut fresh_urls = vec![stage.gateway.ingest_url(&same)];
        for n in 0..OTHERS {
            let url = receiver.url(&format!("{OTHERS_UNDER}{n}"));
            let other = account.wire(&NewDestination::to(&format!("other {n}"), &url)).await?;
            fresh_urls.push(stage.gateway.ingest_url(&other));
        }
        Ok(Storm { stage, size, wire, fresh_urls })
    }

    async fn fresh(&self) -> anyhow::Result<Fresh> {
        let (order, receiver) = (self.stage.fresh_order()?, self.stage.receiver);
        let all = Question::default().of_load(LOAD_FRESH);
        self.stage.fresh(&order, &self.fresh_urls, &all).await?;
        Ok(Fresh {
            others: receiver.report(&Question::under(OTHERS_UNDER).of_load(LOAD_FRESH)).await?.all,
            same: receiver.report(&Question::under(STORM_PATH).of_load(LOAD_FRESH)).await?.all,
        })
    }

    /// Lets everything fail once, and holds the destination until all of it is due; gives how many retries that is.
    async fn brew(&self) -> anyhow::Result<u64> {
        let (receiver, args) = (self.stage.receiver, self.stage.args);
        let Size { events, retry_seconds } = self.size;
        progress!("storm: {events} events fail");
        receiver.reset().await?;
        receiver.begin_outage().await?;
        let order = LoadOrder::at_once(events).numbered(LOAD_STORM);
        let load = run_load(args, &order, &[self.stage.gateway.ingest_url(&self.wire)]).await?;
        all_accepted(&load, events)?;
        let question = Question::under(STORM_PATH).of_load(LOAD_STORM);
        let tried = receiver.wait_for_requests(&question, events, self.stage.deadline()).await?.all;
        self.stage.gateway.account().pause(&self.wire).await?;
        receiver.end_outage().await?;
        // All are due when the last failure, which is not older than now, has waited its time.
        tokio::time::sleep(Duration::from_secs(retry_seconds)).await;
        Ok(events - tried.unique)
    }
}
