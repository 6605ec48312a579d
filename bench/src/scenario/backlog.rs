//! Backlog: one destination is down and owed a great many events. What that costs in memory, what it does to a
//! healthy destination next to it, and how long a restart takes.

use super::healthy::{self, Healthy};
use crate::args::BenchArgs;
use crate::gateway::{Gateway, Wire};
use crate::procfs::{rss_bytes, rss_peak_bytes};
use crate::progress::progress;
use crate::role::{LoadOrder, Receiver, run_load};
use crate::scratch::Scratch;
use crate::units::{float, per_second};
use anyhow::Context as _;
use serde::Serialize;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;
use tokio::net::TcpSocket;

/// Lets what belongs to the load, and not to the backlog, leave the memory.
const SETTLE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Backlog {
    pub(crate) rate_per_s: u32,
    pub(crate) size_bytes: u32,
    pub(crate) standing: Standing,
    pub(crate) restart: Restart,
}

/// With the backlog, against without.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Standing {
    pub(crate) filled: Filled,
    pub(crate) healthy_without: Healthy,
    pub(crate) healthy_with: Healthy,
    /// p99 of receipt, with the backlog by without.
    pub(crate) p99_ratio: f64,
    pub(crate) rss_idle_bytes: u64,
    /// After healthy traffic, before the backlog.
    pub(crate) rss_before_bytes: u64,
    pub(crate) rss_with_backlog_bytes: u64,
    pub(crate) rss_growth_bytes_per_pending: f64,
    pub(crate) rss_peak_bytes: u64,
}

/// How the backlog came to be.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Filled {
    pub(crate) asked: u64,
    pub(crate) accepted: u64,
    pub(crate) refused: u64,
    pub(crate) accepted_per_s: f64,
    /// What the gateway says is pending at the destination that is down, after healthy traffic.
    pub(crate) pending_reported: Option<u64>,
}

/// A start on the data directory with the backlog in it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Restart {
    pub(crate) stop_seconds: f64,
    /// Of the first start, on an empty directory.
    pub(crate) empty_ready_seconds: f64,
    pub(crate) ready_seconds: f64,
    pub(crate) rss_bytes: u64,
    pub(crate) healthy: Healthy,
    pub(crate) rss_after_traffic_bytes: u64,
}

/// What both halves of the scenario work with.
struct Stage<'a> {
    args: &'a BenchArgs,
    receiver: &'a Receiver,
    healthy: Wire,
    down: Wire,
}

pub(crate) async fn measure(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Backlog> {
    // Declared first and so dropped last: the gateway must be gone before its directory is.
    let home = Scratch::create(args.work_dir.as_deref())?;
    let (_reserved, nobody) = closed_port()?;
    let gateway = Gateway::start(home.path(), &args.gateway_args).await?;
    let rss_idle_bytes = rss_bytes(gateway.pid())?;
    let stage = Stage {
        args,
        receiver,
        healthy: gateway.wire("bench healthy", &receiver.url("/hook/healthy")).await?,
        down: gateway.wire("bench down", &format!("http://{nobody}/hook/down")).await?,
    };
    let standing = stage.fill(&gateway, rss_idle_bytes).await?;
    let restart = stage.restart(gateway, home.path()).await?;
    Ok(Backlog { rate_per_s: args.rate_per_s(), size_bytes: args.size, standing, restart })
}

impl Stage<'_> {
    async fn fill(&self, gateway: &Gateway, rss_idle_bytes: u64) -> anyhow::Result<Standing> {
        let pid = gateway.pid();
        progress!("backlog: healthy traffic without a backlog");
        let healthy_without = self.measure_healthy(gateway).await?;
        let rss_before_bytes = rss_bytes(pid)?;
        let mut filled = self.send_to_down(gateway).await?;
        tokio::time::sleep(SETTLE).await;
        let rss_with_backlog_bytes = rss_bytes(pid)?;
        progress!("backlog: healthy traffic with {} pending", filled.accepted);
        let healthy_with = self.measure_healthy(gateway).await?;
        filled.pending_reported = gateway.pending(&self.down).await;
        Ok(Standing {
            p99_ratio: float(healthy_with.receipt_p99_us) / float(healthy_without.receipt_p99_us.max(1)),
            rss_growth_bytes_per_pending: (float(rss_with_backlog_bytes) - float(rss_before_bytes))
                / float(filled.accepted.max(1)),
            rss_peak_bytes: rss_peak_bytes(pid)?,
            filled,
            healthy_without,
            healthy_with,
            rss_idle_bytes,
            rss_before_bytes,
            rss_with_backlog_bytes,
        })
    }

    async fn restart(&self, gateway: Gateway, home: &Path) -> anyhow::Result<Restart> {
        progress!("backlog: stop and start again");
        let empty_ready_seconds = gateway.ready_after().as_secs_f64();
        let stop_seconds = gateway.stop().await?.as_secs_f64();
        let gateway = Gateway::start(home, &self.args.gateway_args).await?;
        let rss_at_ready = rss_bytes(gateway.pid())?;
        progress!("backlog: ready after {:?}; healthy traffic again", gateway.ready_after());
        let healthy = self.measure_healthy(&gateway).await?;
        Ok(Restart {
            stop_seconds,
            empty_ready_seconds,
            ready_seconds: gateway.ready_after().as_secs_f64(),
            rss_bytes: rss_at_ready,
            healthy,
            rss_after_traffic_bytes: rss_bytes(gateway.pid())?,
        })
    }

    async fn measure_healthy(&self, gateway: &Gateway) -> anyhow::Result<Healthy> {
        healthy::measure(self.args, gateway, &self.healthy, self.receiver).await
    }

    /// A gateway that admits only part of the backlog within the deadline is measured with that part.
    async fn send_to_down(&self, gateway: &Gateway) -> anyhow::Result<Filled> {
        let asked = self.args.pending;
        progress!("backlog: {asked} events for a destination that is down");
        let load = run_load(self.args, &LoadOrder::at_once(asked), &[gateway.ingest_url(&self.down)]).await?;
        if let Some(why) = &load.first_failure {
            progress!("  {} events were not accepted: {why}", load.failed);
        }
        anyhow::ensure!(load.accepted > 0, "none of the backlog was accepted");
        Ok(Filled {
            asked,
            accepted: load.accepted,
            refused: load.refused,
            accepted_per_s: per_second(load.accepted, Duration::from_secs_f64(load.seconds)),
            pending_reported: None,
        })
    }
}

/// An address that refuses connections for as long as the socket is kept: bound, so that nobody else gets it,
/// and not listening.
fn closed_port() -> anyhow::Result<(TcpSocket, SocketAddr)> {
    let socket = TcpSocket::new_v4().context("open a socket")?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).context("reserve a port")?;
    let address = socket.local_addr().context("the reserved port")?;
    Ok((socket, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_answers_at_a_closed_port_and_nobody_else_can_have_it() {
        crate::http::runtime().expect("a runtime").block_on(async {
            let (_reserved, address) = closed_port().expect("a port");
            let refused = tokio::net::TcpStream::connect(address).await.expect_err("nobody listens");
            assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
            assert!(std::net::TcpListener::bind(address).is_err());
        });
    }
}
