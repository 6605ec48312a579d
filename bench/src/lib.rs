//! `postrider bench`: what the gateway delivers on this machine, next to what the machine can do at all.
//!
//! The limit is a forwarder without a store, made of the same HTTP library. Gateway and forwarder take turns
//! under the same load, and each part is a process of its own, so that the CPU and memory of the one that is
//! measured are not those of the load. Everything stays on loopback and is gone when the run ends.

mod api;
mod args;
mod child;
mod database;
mod event;
mod forwarder;
mod gateway;
mod http;
mod latency;
mod load;
mod machine;
mod page;
mod procfs;
mod progress;
mod receiver;
mod report;
mod role;
mod scenario;
mod scratch;
mod spread;
mod table;
mod units;
mod verdict;

#[cfg(test)]
mod tests;

use anyhow::Context as _;
use args::Role;
use std::future::Future;
use tokio::signal::unix::{SignalKind, signal};

pub use args::BenchArgs;
pub use database::{LifeOrder, Lives};
pub use gateway::Gateway;
pub use scratch::Scratch;

/// Runs the benchmark, or the one role of it that a child process was started for. `lives` is what the program has
/// its own store do for `--database-url`.
///
/// Blocks until done, and makes its own runtimes: call it from a thread that has none.
pub fn run(args: BenchArgs, lives: Lives) -> anyhow::Result<()> {
    if args.role.role.is_some() {
        // A parent that is killed cannot clean up behind it; its children go with it.
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
            .context("tie the child to its parent")?;
    }
    match args.role.role {
        None => block_on(async move { until_interrupted(scenario::run_all(&args, lives)).await }),
        Some(Role::Receiver) => block_on(receiver::serve(http::listen(args.role.listen)?)),
        Some(Role::Load) => block_on(load::run(args.load_plan()?)),
        Some(Role::Forwarder) => forwarder::serve(&http::listen(args.role.listen)?, args.receiver()?),
        Some(Role::Gateway) => gateway::become_gateway(&args.gateway_args),
    }
}

fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    http::runtime()?.block_on(work)
}

/// Turns a signal into an ordinary error, so that the guards of children and directories are dropped.
async fn until_interrupted(work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt()).context("listen for SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
    let mut hangup = signal(SignalKind::hangup()).context("listen for SIGHUP")?;
    tokio::select! {
        done = work => done,
        _ = interrupt.recv() => anyhow::bail!("interrupted"),
        _ = terminate.recv() => anyhow::bail!("terminated"),
        _ = hangup.recv() => anyhow::bail!("the terminal is gone"),
    }
}
