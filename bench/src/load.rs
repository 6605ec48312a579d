//! The load role: keep-alive connections that post events, each the next one as soon as it is answered, or all
//! together at a fixed rate. A refused event (429, 503) is sent again until it is accepted or time is up, or is
//! dropped, as asked.

mod connection;
mod outcome;
mod pace;
mod target;

pub(crate) use outcome::LoadReport;
pub(crate) use target::Target;

use crate::event::{Stamp, unix_now_ns};
use crate::progress::progress;
use crate::units::nanoseconds;
use anyhow::Context as _;
use clap::ValueEnum;
use connection::{Answer, Connection};
use outcome::Outcome;
use pace::Pace;
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// A request without an answer for so long has failed, and its connection with it.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);

/// What a load is to send, and where.
#[derive(Debug, Clone)]
pub(crate) struct LoadPlan {
    pub(crate) target: Target,
    /// The load's number, in every event of it.
    pub(crate) load: u8,
    pub(crate) events: u64,
    pub(crate) size_bytes: usize,
    pub(crate) connections: u16,
    pub(crate) rate_per_s: Option<u32>,
    pub(crate) refused: Refused,
    pub(crate) deadline: Duration,
}

/// What is done with an event that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Refused {
    /// Sent until it is accepted.
    Again,
    /// Counted, as a sender does that has more to send than anybody takes.
    Dropped,
}

struct Load {
    plan: LoadPlan,
    pace: Pace,
    outcome: Mutex<Outcome>,
}

/// Sends everything, then prints the report as one line of JSON.
pub(crate) async fn run(plan: LoadPlan) -> anyhow::Result<()> {
    let report = send_all(plan).await?;
    let json = serde_json::to_string(&report).context("write the report")?;
    writeln!(std::io::stdout(), "{json}").context("print the report")
}

/// Sends everything.
pub(crate) async fn send_all(plan: LoadPlan) -> anyhow::Result<LoadReport> {
    let pace = Pace::start(plan.load, plan.events, plan.rate_per_s, plan.deadline);
    let load = Arc::new(Load { plan, pace, outcome: Mutex::new(Outcome::new()) });
    let mut workers = JoinSet::new();
    for _ in 0..load.plan.connections {
        workers.spawn(Arc::clone(&load).work());
    }
    let watcher = tokio::spawn(Arc::clone(&load).watch());
    while let Some(ended) = workers.join_next().await {
        ended.context("a connection of the load ended by itself")?;
    }
    watcher.abort();
    Ok(load.outcome().report(load.pace.elapsed()))
}

impl Load {
    async fn work(self: Arc<Self>) {
        let mut connection = None;
        while let Some(stamp) = self.pace.next().await {
            self.outcome().note_sent(stamp.sent_ns);
            if let Err(error) = self.submit(&mut connection, stamp).await {
                connection = None;
                self.outcome().note_failed(&format!("{error:#}"));
            }
        }
    }

    /// Sends one event until it is accepted or dropped; the answer's latency counts from the event's time. An error is
    /// the connection's: it cannot be used again.
    async fn submit(&self, connection: &mut Option<Connection>, stamp: Stamp) -> anyhow::Result<()> {
        let body = stamp.body(self.plan.size_bytes);
        while !self.pace.is_over() {
            let asked = Instant::now();
            let exchange = self.exchange(connection, stamp.seq, body.clone());
            match tokio::time::timeout(REQUEST_TIMEOUT, exchange).await.context("no answer in time")?? {
                Answer::Accepted => {
                    self.outcome().note_accepted(unix_now_ns().saturating_sub(stamp.sent_ns));
                    return Ok(());
                }
                Answer::Refused { wait, told } => {
                    let took_ns = nanoseconds(asked.elapsed());
                    self.outcome().note_refused(took_ns, told);
                    if self.plan.refused == Refused::Dropped {
                        self.outcome().note_dropped();
                        return Ok(());
                    }
                    tokio::time::sleep(wait).await;
                }
                Answer::Failed(status) => {
                    self.outcome().note_failed(&format!("answered {status}"));
                    return Ok(());
                }
            }
        }
        self.outcome().note_failed("time was up");
        Ok(())
    }

    async fn exchange(
        &self,
        connection: &mut Option<Connection>,
        seq: u64,
        body: bytes::Bytes,
    ) -> anyhow::Result<Answer> {
        let open = match connection {
            Some(open) => open,
            None => connection.insert(Connection::open(self.plan.target.address()).await?),
        };
        open.post(self.plan.target.path(seq), body).await
    }

    async fn watch(self: Arc<Self>) {
        loop {
            tokio::time::sleep(PROGRESS_INTERVAL).await;
            progress!("  {}", self.outcome().summary(self.plan.events));
        }
    }

    fn outcome(&self) -> MutexGuard<'_, Outcome> {
        self.outcome.lock().expect("nothing panics while it holds the outcome")
    }
}
