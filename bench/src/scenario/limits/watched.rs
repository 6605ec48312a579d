//! Watched: what it costs to see everything. The same load with nobody looking, and with a collector that gets the
//! trace of every event, a log in JSON, and metrics, queue and figures asked for every second, as by Prometheus and an open dashboard.

use super::super::run::{self, Run};
use super::super::throughput::{measure_gateway, wires};
use super::{Comparison, Figure, compared};
use crate::api::Api;
use crate::args::{BenchArgs, Role};
use crate::gateway::Gateway;
use crate::progress::progress;
use crate::role::{Receiver, Server};
use crate::scratch::Scratch;
use std::time::Duration;

/// It may cost a twentieth.
const RATIO_MIN: f64 = 0.95;
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
const LOOKED_AT: [&str; 3] = ["/metrics", "/v1/queue", "/v1/platform-stats"];

pub(super) async fn measure(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Comparison> {
    let alone = measure_gateway(args, receiver).await?;
    progress!("  {:.0} events/s with nobody looking; now watched", alone.delivered_per_s);
    let seen = watched(args, receiver).await?;
    let promise = ("watched by not", RATIO_MIN);
    let mut compared = compared(args, ("watched", ["not", "watched"]), [&alone, &seen], promise);
    compared.figures.push(Figure::both("cpu µs per event", alone.cpu_us_per_event, seen.cpu_us_per_event));
    Ok(compared)
}

async fn watched(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Run> {
    // It answers and keeps nothing.
    let collector = Server::start(Role::Forwarder, &[]).await?;
    let home = Scratch::create(args.work_dir.as_deref())?;
    let further = ["--otlp-endpoint", &collector.url(""), "--log-format", "json"];
    let further: Vec<String> = args.gateway_args.iter().cloned().chain(further.map(str::to_owned)).collect();
    let gateway = Gateway::start(home.path(), &further).await?;
    let urls = wires(args, &gateway, receiver).await?;
    let api = Api::new(gateway.address(), Some(Gateway::ADMIN_KEY))?;
    tokio::select! {
        measured = run::measure(args, gateway.pid(), &urls, receiver) => measured,
        refused = look(&api) => Err(refused),
    }
}

/// Returns only when it was refused.
async fn look(api: &Api) -> anyhow::Error {
    let mut seconds = tokio::time::interval(LOOK_INTERVAL);
    loop {
        seconds.tick().await;
        for path in LOOKED_AT {
            match api.status(path).await {
                Ok(status) if status.is_success() => {}
                Ok(status) => return anyhow::anyhow!("{path} answered {status}"),
                Err(error) => return error.context(path),
            }
        }
    }
}
