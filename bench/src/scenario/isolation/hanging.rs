//! Hanging: of twenty destinations one accepts every request and never answers, with much queued for it. The others must
//! not notice.

use super::stage::{Stage, p99_ratio, receipts};
use super::{Comparison, Figure};
use crate::args::BenchArgs;
use crate::gateway::{Guards, NewDestination};
use crate::progress::progress;
use crate::receiver::Question;
use crate::role::{LoadOrder, Receiver, run_load};
use crate::scenario::run::all_accepted;
use crate::units::{float, number};
use crate::verdict::Goal;

const HEALTHY: u32 = 19;
const TIMEOUT_SECONDS: u32 = 2;
const RATIO_MAX: f64 = 1.5;
/// The loads of the hanging destination, apart from that of the others: what is queued before, and what comes meanwhile.
const LOAD_QUEUED: u8 = 1;
const LOAD_HANGING: u8 = 2;
/// Queued for the one that hangs before anything is measured.
const QUEUED: u64 = 1000;
const QUEUED_QUICK: u64 = 100;

pub(super) async fn measure(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Comparison> {
    let stage = Stage::set(args, receiver, &[]).await?;
    let account = stage.gateway.account();
    let mut urls = Vec::new();
    for n in 0..HEALTHY {
        let url = receiver.url(&format!("/hook/{n}"));
        let wire = account.wire(&NewDestination::to(&format!("healthy {n}"), &url)).await?;
        urls.push(stage.gateway.ingest_url(&wire));
    }
    let hanging = NewDestination {
        timeout_seconds: TIMEOUT_SECONDS,
        guards: Guards::Off,
        ..NewDestination::to("hanging", &receiver.url("/hang/a"))
    };
    let hanging = [stage.gateway.ingest_url(&account.wire(&hanging).await?)];

    let healthy = Question::under("/hook/");
    let order = stage.fresh_order()?;
    progress!("hanging: {HEALTHY} destinations without the one that hangs");
    stage.warm_up(&order, &urls, &healthy).await?;
    let without = stage.fresh(&order, &urls, &healthy).await?;
    let queued = args.size_of(QUEUED, QUEUED_QUICK);
    progress!("hanging: the same beside the one that hangs, with {queued} queued for it");
    receiver.reset().await?;
    let before = run_load(args, &LoadOrder::at_once(queued).numbered(LOAD_QUEUED), &hanging).await?;
    all_accepted(&before, queued)?;
    // As many events for the one that hangs as for each of the others.
    let events = (order.events / u64::from(HEALTHY)).max(1);
    let its = LoadOrder::paced(events, (args.rate_per_s() / HEALTHY).max(1)).numbered(LOAD_HANGING);
    let (with, sent) = tokio::join!(stage.fresh(&order, &urls, &healthy), run_load(args, &its, &hanging));
    let (with, sent) = (with?, sent?);
    let hung = receiver.report(&Question::under("/hang/")).await?.all.withheld;

    let title = format!(
        "Hanging: one of {} destinations never answers (timeout {TIMEOUT_SECONDS} s), {} queued; {}/s to the others",
        HEALTHY + 1,
        number(queued),
        number(args.rate_per_s().into())
    );
    let mut figures =
        receipts(["others' receipt p50 ms", "others' receipt p99 ms"], &without, &with).to_vec();
    figures.push(Figure::with("accepted for the one that hangs", float(before.accepted + sent.accepted)));
    figures.push(Figure::with("attempts that hung", float(hung)));
    let goals = vec![Goal::at_most("others' p99, with by without", p99_ratio(&without, &with), RATIO_MAX)];
    Ok(Comparison::new("hanging", title, ["without", "with"], figures, goals))
}
