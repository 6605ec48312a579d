//! The gateway under test: this very program as `serve`, in a directory and on a port of its own, configured
//! through its API like any other.
//!
//! It is started by way of a role (`bench --role gateway`) that ties it to the benchmark and then becomes it:
//! a benchmark that is killed must not leave a gateway behind.

mod account;
mod destination;

pub(crate) use account::{Account, Source, Wire};
pub(crate) use destination::{Guards, NewDestination};

use crate::api::Api;
use crate::args::Role;
use crate::child::Child;
use crate::progress::progress;
use anyhow::Context as _;
use hyper::StatusCode;
use serde_json::json;
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

/// A gateway that runs for as long as this value lives.
#[derive(Debug)]
pub struct Gateway {
    child: Child,
    /// The first one, by the admin key.
    account: Account,
    address: SocketAddr,
    ready_after: Duration,
}

impl Gateway {
    /// A key that lives as long as the process that uses it, on loopback. Not a secret.
    pub const ADMIN_KEY: &str = ADMIN_KEY;

    /// Starts it on the data in `home` and waits until it is ready.
    pub async fn start(home: &Path, further_args: &[String]) -> anyhow::Result<Gateway> {
        let address = free_address()?;
        let log = home.join("gateway.log");
        let started = Instant::now();
        let child = Child::spawn(&mut serve_command(home, &log, address, further_args)?)?;
        let account = Account::new(Api::new(address, Some(ADMIN_KEY))?);
        let mut gateway = Gateway { child, account, address, ready_after: Duration::ZERO };
        gateway.wait_until_ready(started).await.map_err(|error| error.context(log_tail(&log)))?;
        gateway.ready_after = started.elapsed();
        Ok(gateway)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// From the start of the process to `GET /readyz` answering 200.
    pub(crate) fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// The account that is there from the start.
    pub(crate) fn account(&self) -> &Account {
        &self.account
    }

    /// Makes a further account.
    pub(crate) async fn new_account(&self, name: &str) -> anyhow::Result<Account> {
        let made = self.account.create("accounts", &json!({ "name": name })).await?;
        Ok(Account::new(Api::new(self.address, Some(&account::text(&made["api_key"], "key")?))?))
    }

    /// Makes a source, a destination with the limits of the throughput scenario, and the route between them.
    pub(crate) async fn wire(&self, name: &str, destination_url: &str) -> anyhow::Result<Wire> {
        self.account.wire(&NewDestination::to(name, destination_url)).await
    }

    /// Where events for the wire go in. A restarted gateway has another address and the same wires.
    pub(crate) fn ingest_url(&self, wire: &Wire) -> String {
        self.url(&format!("/ingest/{}", wire.path_token()))
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What the gateway itself says is pending at a destination; `None` where it does not say.
    pub(crate) async fn pending(&self, wire: &Wire) -> Option<u64> {
        let pending = self.account.pending(wire).await;
        if let Err(error) = &pending {
            progress!("no pending count: {error:#}");
        }
        pending.ok()
    }

    /// SIGTERM; gives the time it took to end.
    pub async fn stop(self) -> anyhow::Result<Duration> {
        let (took, status) = self.child.terminate(STOP_WAIT_MAX).await.context("stop the gateway")?;
        if !status.success() {
            progress!("the gateway did not stop in order: {status}");
        }
        Ok(took)
    }

    async fn wait_until_ready(&mut self, started: Instant) -> anyhow::Result<()> {
        loop {
            if let Some(status) = self.child.exit_status()? {
                anyhow::bail!("the gateway ended with {status} before it was ready");
            }
            if matches!(self.account.status("/readyz").await, Ok(StatusCode::OK)) {
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
pub(crate) fn free_address() -> anyhow::Result<SocketAddr> {
    let probe = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("find a free port")?;
    probe.local_addr().context("the free port")
}

/// Whether `serve` has a flag. A scenario that needs one of a later version then measures without it and says so.
pub(crate) async fn knows_flag(flag: &str) -> anyhow::Result<bool> {
    let help =
        Child::this_program()?.args(["serve", "--help"]).output().await.context("ask for the flags")?;
    Ok(String::from_utf8_lossy(&help.stdout).contains(flag))
}

fn log_tail(log: &Path) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let tail = &bytes[bytes.len().saturating_sub(LOG_TAIL_BYTES)..];
    format!("the gateway did not start; the end of its log:\n{}", String::from_utf8_lossy(tail).trim_end())
}
