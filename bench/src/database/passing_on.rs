//! Passing on: two gateways on one database and one destination, which one of them owns. Events are taken by each of the two
//! in turn, and the time until the receiver has them is measured: the slower of the two does not own it.

use super::schema::Schema;
use crate::args::BenchArgs;
use crate::gateway::{Gateway, Wire};
use crate::progress::progress;
use crate::receiver::PathReport;
use crate::role::{LoadOrder, Receiver, run_load};
use crate::scenario::comparison::{Comparison, Figure};
use crate::scenario::run::all_accepted;
use crate::scratch::Scratch;
use crate::units::{milliseconds, number};
use crate::verdict::Goal;
use std::time::{Duration, Instant};

/// Far below what any machine can do: what is measured is the way, not the waiting.
const RATE_PER_S: u32 = 100;
const P50_MS_MAX: f64 = 20.0;
const EVEN_WAIT_MAX: Duration = Duration::from_secs(60);
const EVEN_POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(super) async fn measure(args: &BenchArgs, url: &str) -> anyhow::Result<Comparison> {
    // Declared first and so dropped last: the gateways must be gone before their directories are.
    let homes = [Scratch::create(args.work_dir.as_deref())?, Scratch::create(args.work_dir.as_deref())?];
    let (schema, receiver) = (Schema::make(url).await?, Receiver::start().await?);
    let mut nodes = Vec::new();
    for (number, home) in homes.iter().enumerate() {
        nodes.push(Gateway::start(home.path(), &node_args(args, &schema, number)).await?);
    }
    let wire = nodes[0].wire("passing-on", &receiver.url("/passing-on")).await?;
    wait_until_even(&nodes, &wire).await?;
    let events = u64::from(RATE_PER_S) * u64::from(args.size_of(args.rate_seconds, 1));
    let mut taken = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        progress!("passing on: {events} events at {RATE_PER_S}/s, taken by node {number} of 2");
        taken.push(take(args, events, &node.ingest_url(&wire), &receiver).await?);
    }
    for node in nodes {
        node.stop().await?;
    }
    schema.drop().await?;
    taken.sort_unstable_by_key(|report| report.p50_us);
    Ok(report(args, events, &taken[0], &taken[1]))
}

fn node_args(args: &BenchArgs, schema: &Schema, number: usize) -> Vec<String> {
    let own = [
        "--database-url".to_owned(),
        schema.url.clone(),
        "--node-name".to_owned(),
        format!("bench-{number}"),
    ];
    args.gateway_args.iter().cloned().chain(own).collect()
}

/// Until each has its half and knows the destination.
async fn wait_until_even(nodes: &[Gateway], wire: &Wire) -> anyhow::Result<()> {
    let since = Instant::now();
    for node in nodes {
        while !(node.account().shards_by_node().await? == [32, 32]
            && node.account().pending(wire).await.is_ok())
        {
            anyhow::ensure!(since.elapsed() < EVEN_WAIT_MAX, "the two nodes do not share the shards");
            tokio::time::sleep(EVEN_POLL_INTERVAL).await;
        }
    }
    Ok(())
}

async fn take(args: &BenchArgs, events: u64, url: &str, receiver: &Receiver) -> anyhow::Result<PathReport> {
    receiver.reset().await?;
    let load = run_load(args, &LoadOrder::paced(events, RATE_PER_S), &[url.to_owned()]).await?;
    all_accepted(&load, events)?;
    Ok(receiver.wait_for(events, args.deadline()).await?.all)
}

fn report(args: &BenchArgs, events: u64, owner: &PathReport, other: &PathReport) -> Comparison {
    let ms = milliseconds;
    let figures = vec![
        Figure::both("receipt p50 ms", ms(owner.p50_us), ms(other.p50_us)),
        Figure::both("receipt p99 ms", ms(owner.p99_us), ms(other.p99_us)),
        Figure::both("receipt max ms", ms(owner.max_us), ms(other.max_us)),
    ];
    let title = format!(
        "Passing on: {} events of {} bytes at {RATE_PER_S}/s, taken by the node that owns their destination and by another",
        number(events),
        number(args.size.into()),
    );
    let goals = vec![Goal::at_most("receipt p50 ms by way of another node", ms(other.p50_us), P50_MS_MAX)];
    Comparison::new("passing-on", title, ["by its owner", "by another node"], figures, goals)
}
