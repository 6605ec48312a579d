//! The receiver as its parent sees it: the questions it answers, and what it can be told.

use super::Server;
use crate::api::Api;
use crate::args::Role;
use crate::progress::progress;
use crate::receiver::{LedgerReport, Question, ReceiverReport};
use anyhow::Context as _;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Seldom enough not to disturb: a report costs the receiver about a millisecond.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);
const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);

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

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address
    }

    pub(crate) fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    pub(crate) async fn reset(&self) -> anyhow::Result<()> {
        self.tell("/reset").await
    }

    /// From now on the failing paths fail.
    pub(crate) async fn begin_outage(&self) -> anyhow::Result<()> {
        self.tell("/outage").await
    }

    pub(crate) async fn end_outage(&self) -> anyhow::Result<()> {
        self.tell("/recovery").await
    }

    pub(crate) async fn report(&self, question: &Question) -> anyhow::Result<ReceiverReport> {
        self.api.get(&question.path()).await.context("ask the receiver")
    }

    /// What became of the events under chaos, where each is given up on after so many attempts.
    pub(crate) async fn ledger(&self, attempts_max: u32) -> anyhow::Result<LedgerReport> {
        self.api.get(&format!("/ledger/{attempts_max}")).await.context("ask the receiver")
    }

    /// Waits until so many different events have come.
    pub(crate) async fn wait_for(&self, events: u64, deadline: Duration) -> anyhow::Result<ReceiverReport> {
        self.wait_for_all_of(&Question::default(), events, deadline).await
    }

    /// The same for those that the question is about.
    pub(crate) async fn wait_for_all_of(
        &self,
        question: &Question,
        events: u64,
        deadline: Duration,
    ) -> anyhow::Result<ReceiverReport> {
        self.wait(
            question,
            Count { what: "events", of: |report| report.all.unique, enough: events },
            deadline,
        )
        .await
    }

    /// Waits until so many requests were answered, well or not.
    pub(crate) async fn wait_for_requests(
        &self,
        question: &Question,
        requests: u64,
        deadline: Duration,
    ) -> anyhow::Result<ReceiverReport> {
        let of = |report: &ReceiverReport| report.all.count + report.all.rejected;
        self.wait(question, Count { what: "requests", of, enough: requests }, deadline).await
    }

    async fn wait(
        &self,
        question: &Question,
        count: Count,
        deadline: Duration,
    ) -> anyhow::Result<ReceiverReport> {
        let Count { what, of, enough } = count;
        let (started, mut told) = (Instant::now(), Instant::now());
        loop {
            let report = self.report(question).await?;
            let came = of(&report);
            if came >= enough {
                return Ok(report);
            }
            anyhow::ensure!(
                started.elapsed() < deadline,
                "{came} of {enough} {what} came within {deadline:?}"
            );
            if told.elapsed() >= PROGRESS_INTERVAL {
                progress!("  received {came} of {enough} {what}");
                told = Instant::now();
            }
            tokio::time::sleep(REPORT_INTERVAL).await;
        }
    }

    async fn tell(&self, path: &str) -> anyhow::Result<()> {
        self.api.post_empty(path).await.with_context(|| format!("tell the receiver {path}"))
    }
}

/// What of a report is waited for.
struct Count {
    what: &'static str,
    of: fn(&ReceiverReport) -> u64,
    enough: u64,
}
