//! The gateway under test: this very program as `serve`, in a directory and on a port of its own, configured
//! through its API like any other.
//!
//! It is started by way of a role (`bench --role gateway`) that ties it to the benchmark and then becomes it:
//! a benchmark that is killed must not leave a gateway behind.

use crate::api::Api;
use crate::args::Role;
use crate::child::Child;
use crate::progress::progress;
use anyhow::Context as _;
use hyper::StatusCode;
use serde_json::{Value, json};
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::process::Command;

/// Long enough for a restart on any backlog the benchmark makes; a gateway that needs more has failed.
const READY_WAIT_MAX: Duration = Duration::from_secs(120);
/// The grain of the measured start.
const READY_POLL_INTERVAL: Duration = Duration::from_millis(2);
const STOP_WAIT_MAX: Duration = Duration::from_secs(60);
const LOG_TAIL_BYTES: usize = 4096;

/// A key that lives as long as the benchmark, on loopback. Not a secret.
const ADMIN_KEY: &str = "hk_bench_0123456789abcdefghjkmnpqrstvwxyz";

#[derive(Debug)]
pub(crate) struct Gateway {
    child: Child,
    api: Api,
    address: SocketAddr,
    ready_after: Duration,
}

/// A source whose events all go to one destination.
#[derive(Debug, Clone)]
pub(crate) struct Wire {
    path_token: String,
    destination_id: String,
}

impl Gateway {
    /// Starts it on the data in `home` and waits until it is ready.
    pub(crate) async fn start(home: &Path, further_args: &[String]) -> anyhow::Result<Gateway> {
        let address = free_address()?;
        let log = home.join("gateway.log");
        let started = Instant::now();
        let child = Child::spawn(&mut serve_command(home, &log, address, further_args)?)?;
        let api = Api::new(address, Some(ADMIN_KEY))?;
        let mut gateway = Gateway { child, api, address, ready_after: Duration::ZERO };
        gateway.wait_until_ready(started).await.map_err(|error| error.context(log_tail(&log)))?;
        gateway.ready_after = started.elapsed();
        Ok(gateway)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// From the start of the process to `GET /readyz` answering 200.
    pub(crate) fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// Makes a source, a destination, and the route between them.
    pub(crate) async fn wire(&self, name: &str, destination_url: &str) -> anyhow::Result<Wire> {
        let source = self.create("sources", &json!({ "name": name })).await?;
        let limits = json!({
            "name": name, "url": destination_url, "max_concurrency": 64, "timeout_seconds": 10
        });
        let destination = self.create("destinations", &limits).await?;
        let (source_id, destination_id) = (text(&source, "id")?, text(&destination, "id")?);
        let route = json!({
            "source_id": source_id, "destination_id": destination_id, "event_type_pattern": "**"
        });
        self.create("routes", &route).await?;
        Ok(Wire { path_token: text(&source, "path_token")?, destination_id })
    }

    /// Where events for the wire go in. A restarted gateway has another address and the same wires.
    pub(crate) fn ingest_url(&self, wire: &Wire) -> String {
        format!("http://{}/ingest/{}", self.address, wire.path_token)
    }

    /// What the gateway itself says is pending at a destination; `None` where it does not say.
    pub(crate) async fn pending(&self, wire: &Wire) -> Option<u64> {
        let path = format!("/v1/destinations/{}", wire.destination_id);
        let destination: anyhow::Result<Value> = self.api.get(&path).await;
        if let Err(error) = &destination {
            progress!("no pending count: {error:#}");
        }
        destination.ok()?["data"]["pending"].as_u64()
    }

    /// SIGTERM; gives the time it took to end.
    pub(crate) async fn stop(self) -> anyhow::Result<Duration> {
        let (took, status) = self.child.terminate(STOP_WAIT_MAX).await.context("stop the gateway")?;
        if !status.success() {
            progress!("the gateway did not stop in order: {status}");
        }
        Ok(took)
    }

    async fn create(&self, what: &str, body: &Value) -> anyhow::Result<Value> {
        let mut answer = self.api.post(&format!("/v1/{what}"), body).await?;
        Ok(answer["data"].take())
    }

    async fn wait_until_ready(&mut self, started: Instant) -> anyhow::Result<()> {
        loop {
            if let Some(status) = self.child.exit_status()? {
                anyhow::bail!("the gateway ended with {status} before it was ready");
            }
            if matches!(self.api.status("/readyz").await, Ok(StatusCode::OK)) {
                return Ok(());
            }
            anyhow::ensure!(started.elapsed() < READY_WAIT_MAX, "not ready after {READY_WAIT_MAX:?}");
            tokio::time::sleep(READY_POLL_INTERVAL).await;
        }
    }
}

/// The gateway role: replaces this process by the gateway. Comes back only where that fails.
pub(crate) fn become_gateway(serve_args: &[String]) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("find this program")?;
    let error = std::process::Command::new(program).arg("serve").args(serve_args).exec();
    Err(error).context("start the gateway")
}

fn serve_command(
    home: &Path,
    log: &Path,
    address: SocketAddr,
    further: &[String],
) -> anyhow::Result<Command> {
    let log = File::options().create(true).append(true).open(log).context("open the gateway's log")?;
    let mut command = Child::this_program()?;
    // What the operator has set for a gateway of theirs must not reach the one that is measured.
    for (name, _) in
        std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"POSTRIDER_"))
    {
        command.env_remove(name);
    }
    let data = home.join("data");
    std::fs::create_dir_all(&data).with_context(|| format!("create {}", data.display()))?;
    let data = data.to_str().context("the work directory's name is not UTF-8")?.to_owned();
    let serve = ["--listen", &address.to_string(), "--egress-allow", "127.0.0.0/8", "--data-dir", &data];
    command
        .args(["bench", "--role", Role::Gateway.name()])
        .args(serve.iter().map(|arg| format!("--gateway-arg={arg}")))
        .args(further.iter().map(|arg| format!("--gateway-arg={arg}")))
        .env("POSTRIDER_ADMIN_KEY", ADMIN_KEY)
        .stdout(log.try_clone().context("share the gateway's log")?)
        .stderr(log);
    Ok(command)
}

/// Nobody else on loopback is expected to take the port in the instant until the gateway does.
fn free_address() -> anyhow::Result<SocketAddr> {
    let probe = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("find a free port")?;
    probe.local_addr().context("the free port")
}

fn text(object: &Value, field: &str) -> anyhow::Result<String> {
    let value =
        object[field].as_str().with_context(|| format!("the gateway's answer has no {field}: {object}"))?;
    Ok(value.to_owned())
}

fn log_tail(log: &Path) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let tail = &bytes[bytes.len().saturating_sub(LOG_TAIL_BYTES)..];
    format!("the gateway did not start; the end of its log:\n{}", String::from_utf8_lossy(tail).trim_end())
}
