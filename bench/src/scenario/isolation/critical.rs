//! Critical: a mountain of bulk is owed to slow destinations and holds every slot. A critical event must go through
//! as if the gateway were idle.

use super::stage::{Stage, p50_ratio, p99_ratio, receipts};
use super::{Comparison, Figure};
use crate::args::BenchArgs;
use crate::gateway::NewDestination;
use crate::progress::progress;
use crate::receiver::Question;
use crate::role::{LoadOrder, Receiver, run_load};
use crate::scenario::run::all_accepted;
use crate::units::{float, number};
use crate::verdict::Goal;

const RATIO_MAX: f64 = 2.0;
const BULK_DESTINATIONS: u8 = 4;
const LOAD_BULK: u8 = 1;
/// Fewer than the bulk destinations take together (4 × 64), so that bulk holds all of them: 640 a second.
const SLOTS: u32 = 128;
const BULK_PATH: &str = "/delay/200/bulk";
const PRIORITY_CRITICAL: u8 = 1;
const PRIORITY_BULK: u8 = 4;
/// Far enough apart for each to be alone on its way.
const SAMPLES_PER_S: u32 = 20;

struct Size {
    bulk: u64,
    samples: u64,
}

const FULL: Size = Size { bulk: 1_000_000, samples: 400 };
const QUICK: Size = Size { bulk: 1200, samples: 10 };

pub(super) async fn measure(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Comparison> {
    let size = args.size_of(FULL, QUICK);
    let stage = Stage::set(args, receiver, &[format!("--slots={SLOTS}")]).await?;
    let account = stage.gateway.account();
    let mut bulk = Vec::new();
    for n in 0..BULK_DESTINATIONS {
        let wanted = NewDestination {
            priority: PRIORITY_BULK,
            ..NewDestination::to(&format!("bulk {n}"), &receiver.url(&format!("{BULK_PATH}/{n}")))
        };
        bulk.push(stage.gateway.ingest_url(&account.wire(&wanted).await?));
    }
    let critical = NewDestination {
        priority: PRIORITY_CRITICAL,
        ..NewDestination::to("critical", &receiver.url("/hook/critical"))
    };
    let critical = [stage.gateway.ingest_url(&account.wire(&critical).await?)];

    let question = Question::under("/hook/");
    let order = LoadOrder { connections: Some(1), ..LoadOrder::paced(size.samples, SAMPLES_PER_S) };
    progress!("critical: one at a time on an idle gateway");
    stage.warm_up(&order, &critical, &question).await?;
    let idle = stage.fresh(&order, &critical, &question).await?;
    progress!("critical: {} bulk events", size.bulk);
    receiver.reset().await?;
    let load = run_load(args, &LoadOrder::at_once(size.bulk).numbered(LOAD_BULK), &bulk).await?;
    all_accepted(&load, size.bulk)?;
    let owed = |delivered: u64| float(size.bulk.saturating_sub(delivered));
    let at_first = owed(receiver.report(&Question::under(BULK_PATH)).await?.all.unique);
    progress!("critical: one at a time before {at_first} that are owed");
    let busy = stage.fresh(&order, &critical, &question).await?;
    let at_last = owed(receiver.report(&Question::under(BULK_PATH)).await?.all.unique);

    let title = format!(
        "Critical: one at a time ({} of them), with {} bulk events behind {SLOTS} slots",
        number(size.samples),
        number(size.bulk)
    );
    let mut figures = receipts(["critical receipt p50 ms", "critical receipt p99 ms"], &idle, &busy).to_vec();
    figures.push(Figure::with("bulk owed at the first", at_first));
    figures.push(Figure::with("bulk owed at the last", at_last));
    let goals = vec![
        Goal::at_most("critical p50, with bulk by idle", p50_ratio(&idle, &busy), RATIO_MAX),
        Goal::at_most("critical p99, with bulk by idle", p99_ratio(&idle, &busy), RATIO_MAX),
        // Without bulk until the end there was nothing to be isolated from.
        Goal::at_least("bulk owed at the last", at_last, 1.0),
        // The critical are not first at the cost of bulk that starves.
        Goal::at_least("bulk delivered meanwhile", at_first - at_last, 1.0).in_every_round(),
    ];
    Ok(Comparison::new("critical", title, ["idle", "with bulk"], figures, goals))
}
