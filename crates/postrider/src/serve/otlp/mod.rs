//! Traces to a collector, by OTLP. A thread of its own gathers spans and sends them; what it cannot send is dropped, so
//! that a collector that is slow or gone costs nothing but its traces.

mod collector;
mod protobuf;

use crate::config::TracesTo;
use anyhow::Context;
use collector::Collector;
use postrider_engine::{Span, Spans};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

/// Spans in one request.
const BATCH_MAX: usize = 512;
/// How long a span waits for others.
const LINGER: Duration = Duration::from_secs(1);

/// The thread that sends spans.
pub(super) struct Exporter {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// Starts it; gives where spans go.
pub(super) fn start(to: &TracesTo, node: &str) -> anyhow::Result<(Spans, Exporter)> {
    let (spans, queue) = Spans::channel();
    let (stop, stopping) = oneshot::channel();
    let sending = Sending {
        collector: Collector::new(to)?,
        node: node.to_owned(),
        spans: spans.clone(),
        failing: Failing::No,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let run = move || runtime.block_on(sending.run(queue, stopping));
    let thread = std::thread::Builder::new().name("traces".into()).spawn(run);
    Ok((spans, Exporter { stop, thread: thread.context("the thread for traces could not be started")? }))
}

impl Exporter {
    /// Sends what is left and ends.
    pub(super) fn finish(self) {
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

#[derive(PartialEq, Eq)]
enum Failing {
    No,
    /// The log says so already.
    Told,
}

struct Sending {
    collector: Collector,
    node: String,
    spans: Spans,
    failing: Failing,
}

impl Sending {
    async fn run(mut self, mut queue: mpsc::Receiver<Span>, mut stopping: oneshot::Receiver<()>) {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        let mut stops = false;
        while !stops {
            tokio::select! {
                () = gather(&mut queue, &mut batch) => {}
                _ = &mut stopping => stops = true,
            }
            self.send(&mut batch).await;
        }
        // Once more what is there, and not for ever: a collector that is gone is not waited for.
        while self.failing == Failing::No && queue.try_recv().map(|span| batch.push(span)).is_ok() {
            while batch.len() < BATCH_MAX && queue.try_recv().map(|span| batch.push(span)).is_ok() {}
            self.send(&mut batch).await;
        }
    }

    /// A batch that cannot be sent is lost: the next one is more telling than one that is late.
    async fn send(&mut self, batch: &mut Vec<Span>) {
        let dropped = self.spans.take_dropped();
        if dropped > 0 {
            tracing::warn!(spans = dropped, "spans were dropped: the collector does not keep up");
        }
        if batch.is_empty() {
            return;
        }
        let request = protobuf::request(batch, &self.node);
        let sent = self.collector.export(request).await;
        match sent {
            Ok(()) if self.failing == Failing::Told => {
                self.failing = Failing::No;
                tracing::info!("the collector takes spans again");
            }
            Ok(()) => {}
            Err(error) if self.failing == Failing::No => {
                self.failing = Failing::Told;
                tracing::warn!(error = format!("{error:#}"), "spans cannot be sent to the collector");
            }
            Err(_) => {}
        }
        batch.clear();
    }
}

/// Waits for a span and then for those that come soon after it.
async fn gather(queue: &mut mpsc::Receiver<Span>, batch: &mut Vec<Span>) {
    if queue.recv_many(batch, BATCH_MAX).await == 0 {
        // All who make spans are gone; the stop follows.
        std::future::pending::<()>().await;
    }
    let until = Instant::now() + LINGER;
    while batch.len() < BATCH_MAX {
        let room = BATCH_MAX - batch.len();
        match timeout_at(until, queue.recv_many(batch, room)).await {
            Ok(taken) if taken > 0 => {}
            _ => return,
        }
    }
}
