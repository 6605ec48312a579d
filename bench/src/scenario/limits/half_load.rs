//! Half load: events at half the rate that the gateway can deliver on this machine, and how long they take.

use super::super::run::{self, all_accepted};
use super::super::throughput::wires;
use super::{Comparison, Figure};
use crate::args::BenchArgs;
use crate::gateway::Gateway;
use crate::progress::progress;
use crate::role::{LoadOrder, Receiver, run_load};
use crate::scratch::Scratch;
use crate::units::{milliseconds, number};
use crate::verdict::Goal;

const P99_MS_MAX: f64 = 10.0;

pub(super) async fn measure(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Comparison> {
    // Declared first and so dropped last: the gateway must be gone before its directory is.
    let home = Scratch::create(args.work_dir.as_deref())?;
    let gateway = Gateway::start(home.path(), &args.gateway_args).await?;
    let urls = wires(args, &gateway, receiver).await?;
    progress!("half load: as much as there is room for");
    let full = run::measure(args, gateway.pid(), &urls, receiver).await?;
    let half_per_s = per_s(full.delivered_per_s / 2.0);
    progress!("half load: {half_per_s} events/s");
    receiver.reset().await?;
    let order =
        LoadOrder::paced(u64::from(half_per_s) * u64::from(args.size_of(args.rate_seconds, 1)), half_per_s);
    let load = run_load(args, &order, &urls).await?;
    all_accepted(&load, order.events)?;
    let half = receiver.wait_for(order.events, args.deadline()).await?.all;

    let ms = milliseconds;
    let figures = vec![
        Figure::both("delivered per s", full.delivered_per_s, half_per_s.into()),
        Figure::both("receipt p50 ms", ms(full.receipt_p50_us), ms(half.p50_us)),
        Figure::both("receipt p99 ms", ms(full.receipt_p99_us), ms(half.p99_us)),
        Figure::both("receipt max ms", ms(full.receipt_max_us), ms(half.max_us)),
        Figure::both("answer p50 ms", ms(full.answer_p50_us), ms(load.p50_us)),
        Figure::both("answer p99 ms", ms(full.answer_p99_us), ms(load.p99_us)),
    ];
    let title = format!(
        "Half load: events of {} bytes, {} connections, {} destinations; {} of them at half the rate",
        number(args.size.into()),
        args.connections,
        args.destinations,
        number(order.events)
    );
    let goals = vec![Goal::at_most("receipt p99 ms at half load", ms(half.p99_us), P99_MS_MAX)];
    Ok(Comparison::new("half-load", title, ["full", "half"], figures, goals))
}

/// At least one.
fn per_s(rate: f64) -> u32 {
    // A rate is never negative, and no machine makes four billion a second.
    (rate.max(1.0) as u64).try_into().unwrap_or(u32::MAX)
}
