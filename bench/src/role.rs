//! The roles as their parent sees them: the receiver, the forwarder and the load, each a child process.

use crate::api::Api;
use crate::args::{BenchArgs, Role};
use crate::child::Child;
use crate::http::ANNOUNCEMENT;
use crate::load::LoadReport;
use crate::progress::progress;
use crate::receiver::ReceiverReport;
use anyhow::Context as _;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

/// A role listens within milliseconds of its start.
const START_WAIT_MAX: Duration = Duration::from_secs(10);
/// What a load may take past its own deadline, for requests under way (30 s at most) and its start.
const LOAD_GRACE: Duration = Duration::from_secs(45);
/// A load prints one line.
const LOAD_OUTPUT_BYTES_MAX: u64 = 64 << 10;
/// Seldom enough not to disturb: a report costs the receiver about a millisecond.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);
const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);

/// A role that listens.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    pub(crate) async fn start(role: Role, urls: &[String]) -> anyhow::Result<Server> {
        let mut child = spawn(role, urls, &[])?;
        let mut line = String::new();
        let mut output = BufReader::new(child.take_stdout()?);
        let announced = tokio::time::timeout(START_WAIT_MAX, output.read_line(&mut line)).await;
        announced
            .with_context(|| format!("the {} does not listen", role.name()))?
            .context("read its address")?;
        let address = line.trim().strip_prefix(ANNOUNCEMENT.trim_end()).map(str::trim);
        let address = address.with_context(|| format!("the {} gave no address", role.name()))?;
        Ok(Server { child, address: address.parse().context("not an address")? })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// The receiver, and the questions it answers.
#[derive(Debug)]
pub(crate) struct Receiver {
    server: Server,
    api: Api,
}

impl Receiver {
    pub(crate) async fn start() -> anyhow::Result<Receiver> {
        let server = Server::start(Role::Receiver, &[]).await?;
        let api = Api::new(server.address, None)?;
        Ok(Receiver { server, api })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    pub(crate) async fn reset(&self) -> anyhow::Result<()> {
        self.api.post_empty("/reset").await.context("reset the receiver")
    }

    /// Waits until so many different events have come.
    pub(crate) async fn wait_for(&self, events: u64, deadline: Duration) -> anyhow::Result<ReceiverReport> {
        let (started, mut told) = (Instant::now(), Instant::now());
        loop {
            let report: ReceiverReport = self.api.get("/report").await.context("ask the receiver")?;
            if report.all.unique >= events {
                return Ok(report);
            }
            let unique = report.all.unique;
            anyhow::ensure!(
                started.elapsed() < deadline,
                "{unique} of {events} events came within {deadline:?}"
            );
            if told.elapsed() >= PROGRESS_INTERVAL {
                progress!("  received {unique} of {events} events");
                told = Instant::now();
            }
            tokio::time::sleep(REPORT_INTERVAL).await;
        }
    }
}

/// What one load differs in from the next; the rest is as the command line has it.
pub(crate) struct LoadSize {
    pub(crate) events: u64,
    pub(crate) rate_per_s: Option<u32>,
}

/// Runs a load to its end.
pub(crate) async fn run_load(
    args: &BenchArgs,
    size: LoadSize,
    urls: &[String],
) -> anyhow::Result<LoadReport> {
    let mut options = vec![
        format!("--events={}", size.events),
        format!("--size={}", args.size),
        format!("--connections={}", args.connections),
        format!("--deadline-seconds={}", args.deadline_seconds),
    ];
    options.extend(size.rate_per_s.map(|rate| format!("--rate={rate}")));
    let mut child = spawn(Role::Load, urls, &options)?;
    let mut output = String::new();
    let mut stdout = child.take_stdout()?.take(LOAD_OUTPUT_BYTES_MAX);
    let read = tokio::time::timeout(args.deadline() + LOAD_GRACE, stdout.read_to_string(&mut output)).await;
    read.context("the load did not end in time")?.context("read the load's report")?;
    serde_json::from_str(&output).context("the load ended without a report")
}

fn spawn(role: Role, urls: &[String], options: &[String]) -> anyhow::Result<Child> {
    let mut command = Child::this_program()?;
    command.args(["bench", "--role", role.name()]).args(options).stdout(Stdio::piped());
    for url in urls {
        command.args(["--url", url]);
    }
    Child::spawn(&mut command).with_context(|| format!("start the {}", role.name()))
}
