//! Ingest alone: events that nothing is owed for, answered once they are on disk, beside a server of the same HTTP
//! library that answers 202 and keeps nothing.

use super::super::isolation::{Figure, Isolation};
use super::super::run::all_accepted;
use super::{events, turns};
use crate::args::{BenchArgs, Role};
use crate::gateway::Gateway;
use crate::procfs;
use crate::progress::progress;
use crate::role::{LoadOrder, Server, run_load};
use crate::scratch::Scratch;
use crate::spread::Spread;
use crate::units::{float, milliseconds, number};
use crate::verdict::{Goal, ratio};
use anyhow::Context as _;

const RATIO_MIN: f64 = 0.7;

/// One load into one server.
struct Taken {
    accepted_per_s: f64,
    cpu_us: f64,
    p99_ms: f64,
}

pub(crate) async fn measure(args: &BenchArgs) -> anyhow::Result<Isolation> {
    let (mut bare, mut gateway) = (Vec::new(), Vec::new());
    for turn in 1..=turns(args) {
        progress!("ingest, turn {turn} of {}: a server that only answers", turns(args));
        bare.push(into_bare_server(args).await?);
        progress!("  {:.0} events/s; now the gateway", bare[bare.len() - 1].accepted_per_s);
        gateway.push(into_gateway(args).await?);
        progress!("  {:.0} events/s", gateway[gateway.len() - 1].accepted_per_s);
    }
    let ratios =
        bare.iter().zip(&gateway).map(|(bare, gateway)| ratio(gateway.accepted_per_s, bare.accepted_per_s));
    let ratios = Spread::of(ratios).context("no turn was made")?;
    let row = |name, of: fn(&Taken) -> f64| {
        let median = |taken: &[Taken]| Spread::of(taken.iter().map(of)).map(|spread| spread.median);
        Figure { name, without: median(&bare), with: median(&gateway) }
    };
    let figures = vec![
        row("accepted per s", |taken| taken.accepted_per_s),
        row("cpu µs per event", |taken| taken.cpu_us),
        row("answer p99 ms", |taken| taken.p99_ms),
        Figure { name: "ratio, least and most", without: Some(ratios.min), with: Some(ratios.max) },
    ];
    let title = format!(
        "Ingest: {} events of {} bytes, {} connections, owed to nobody; median of {}",
        number(events(args)),
        number(args.size.into()),
        args.connections,
        turns(args)
    );
    let goals = vec![Goal::at_least("gateway by bare server", ratios.median, RATIO_MIN)];
    Ok(Isolation::compared("ingest", title, ["answers 202", "gateway"], figures, goals))
}

async fn into_bare_server(args: &BenchArgs) -> anyhow::Result<Taken> {
    // It has nowhere to forward to.
    let server = Server::start(Role::Forwarder, &[]).await?;
    take(args, server.pid(), &[server.url("/")]).await
}

async fn into_gateway(args: &BenchArgs) -> anyhow::Result<Taken> {
    // Declared first and so dropped last: the gateway must be gone before its directory is.
    let home = Scratch::create(args.work_dir.as_deref())?;
    let gateway = Gateway::start(home.path(), &args.gateway_args).await?;
    let source = gateway.account().source("ingest").await?;
    take(args, gateway.pid(), &[gateway.url(&format!("/ingest/{}", source.path_token()))]).await
}

async fn take(args: &BenchArgs, pid: u32, urls: &[String]) -> anyhow::Result<Taken> {
    let before = procfs::cpu_time(pid)?;
    let load = run_load(args, &LoadOrder::at_once(events(args)), urls).await?;
    all_accepted(&load, events(args))?;
    let cpu = procfs::cpu_time(pid)?.saturating_sub(before);
    Ok(Taken {
        accepted_per_s: float(load.accepted) / load.seconds.max(1e-9),
        cpu_us: cpu.as_secs_f64() * 1e6 / float(load.accepted),
        p99_ms: milliseconds(load.p99_us),
    })
}
