//! Flood: one account sends twenty times its share to destinations of its own. Another account's trickle must not
//! wait behind it.

use super::stage::{Stage, p99_ratio, receipts};
use super::{Comparison, Figure};
use crate::args::BenchArgs;
use crate::gateway::NewDestination;
use crate::load::Refused;
use crate::progress::progress;
use crate::receiver::Question;
use crate::role::{LoadOrder, Receiver, run_load};
use crate::units::{float, number};
use crate::verdict::Goal;

const RATIO_MAX: f64 = 2.0;
/// Slots that the flood holds for 100 ms each: 640 deliveries a second, so that an account's share of two is 320.
const SLOTS: u32 = 64;
const FLOOD_PATH: &str = "/delay/100/flood";
const SHARE_PER_S: u32 = 320;
const FLOOD_BY_SHARE: u32 = 20;
const FLOOD_DESTINATIONS: u8 = 4;
const LOAD_FLOOD: u8 = 1;
const TRICKLE_PER_S: u32 = 50;

struct Size {
    /// Of the trickle; the flood begins with it and outlasts it a little.
    seconds: u32,
}

const FULL: Size = Size { seconds: 10 };
const QUICK: Size = Size { seconds: 1 };

pub(super) async fn measure(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Comparison> {
    let size = args.size_of(FULL, QUICK);
    let stage = Stage::set(args, receiver, &[format!("--slots={SLOTS}")]).await?;
    let flooding = stage.gateway.new_account("flood").await?;
    let mut flood = Vec::new();
    for n in 0..FLOOD_DESTINATIONS {
        let url = receiver.url(&format!("{FLOOD_PATH}/{n}"));
        let wire = flooding.wire(&NewDestination::to(&format!("flood {n}"), &url)).await?;
        flood.push(stage.gateway.ingest_url(&wire));
    }
    let trickling = stage.gateway.new_account("trickle").await?;
    let wire = trickling.wire(&NewDestination::to("trickle", &receiver.url("/hook/trickle"))).await?;
    let trickle = [stage.gateway.ingest_url(&wire)];

    let question = Question::under("/hook/");
    let order = LoadOrder::paced(u64::from(TRICKLE_PER_S * size.seconds), TRICKLE_PER_S);
    progress!("flood: the trickle alone");
    stage.warm_up(&order, &trickle, &question).await?;
    let without = stage.fresh(&order, &trickle, &question).await?;
    progress!("flood: the trickle beside the flood");
    receiver.reset().await?;
    let flood_per_s = SHARE_PER_S * FLOOD_BY_SHARE;
    let its = LoadOrder {
        refused: Refused::Dropped,
        ..LoadOrder::paced(u64::from(flood_per_s * size.seconds), flood_per_s).numbered(LOAD_FLOOD)
    };
    let (with, sent) = tokio::join!(stage.fresh(&order, &trickle, &question), run_load(args, &its, &flood));
    let (with, sent) = (with?, sent?);
    let delivered = receiver.report(&Question::under(FLOOD_PATH)).await?.all.unique;

    let title = format!(
        "Flood: one account at {}/s, {FLOOD_BY_SHARE} times its share; another at {TRICKLE_PER_S}/s; {SLOTS} slots",
        number(flood_per_s.into())
    );
    let mut figures =
        receipts(["trickle receipt p50 ms", "trickle receipt p99 ms"], &without, &with).to_vec();
    figures.push(Figure::with("flood accepted", float(sent.accepted)));
    figures.push(Figure::with("flood accepted per s", float(sent.accepted) / sent.seconds.max(1e-9)));
    figures.push(Figure::with("flood refusals", float(sent.refused)));
    figures.push(Figure::with("flood delivered meanwhile", float(delivered)));
    let goals = vec![Goal::at_most("trickle p99, with by without", p99_ratio(&without, &with), RATIO_MAX)];
    Ok(Comparison::new("flood", title, ["without", "with"], figures, goals))
}
