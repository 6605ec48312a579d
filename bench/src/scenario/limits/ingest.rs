//! Ingest alone: events that nothing is owed for, answered once they are on disk, beside a server of the same HTTP
//! library that answers 202 and keeps nothing.

use super::super::run::all_accepted;
use super::{Comparison, Figure};
use crate::args::{BenchArgs, Role};
use crate::gateway::Gateway;
use crate::procfs;
use crate::progress::progress;
use crate::role::{LoadOrder, Server, run_load};
use crate::scratch::Scratch;
use crate::units::{float, milliseconds, number};
use crate::verdict::{Goal, ratio};

const RATIO_MIN: f64 = 0.7;

/// One load into one server.
struct Taken {
    accepted_per_s: f64,
    cpu_us: f64,
    p99_ms: f64,
}

pub(super) async fn measure(args: &BenchArgs) -> anyhow::Result<Comparison> {
    progress!("  a server that only answers");
    let bare = into_bare_server(args).await?;
    progress!("  {:.0} events/s; now the gateway", bare.accepted_per_s);
    let own = into_gateway(args).await?;
    let figures = vec![
        Figure::both("accepted per s", bare.accepted_per_s, own.accepted_per_s),
        Figure::both("cpu µs per event", bare.cpu_us, own.cpu_us),
        Figure::both("answer p99 ms", bare.p99_ms, own.p99_ms),
    ];
    let title = format!(
        "Ingest: {} events of {} bytes, {} connections, owed to nobody",
        number(args.events),
        number(args.size.into()),
        args.connections
    );
    let by_bare = ratio(own.accepted_per_s, bare.accepted_per_s);
    let goals = vec![Goal::at_least("gateway by bare server", by_bare, RATIO_MIN)];
    Ok(Comparison::new("ingest", title, ["answers 202", "gateway"], figures, goals))
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
    let load = run_load(args, &LoadOrder::at_once(args.events), urls).await?;
    all_accepted(&load, args.events)?;
    let cpu = procfs::cpu_time(pid)?.saturating_sub(before);
    Ok(Taken {
        accepted_per_s: float(load.accepted) / load.seconds.max(1e-9),
        cpu_us: cpu.as_secs_f64() * 1e6 / float(load.accepted),
        p99_ms: milliseconds(load.p99_us),
    })
}
