//! Traces to a collector, by OTLP. A thread of its own gathers spans and sends them; what it cannot send is dropped, so
//! that a collector that is slow or gone costs nothing but its traces.

mod collector;

use crate::config::TracesTo;
use anyhow::Context;
use bytes::Bytes;
use collector::Collector;
use postrider_engine::{Spans, trace_request_head};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long a span waits for others.
const LINGER: Duration = Duration::from_secs(1);

/// The thread that sends spans.
pub(super) struct Exporter {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// Starts it; gives where spans go.
pub(super) fn start(to: &TracesTo, node: &str) -> anyhow::Result<(Spans, Exporter)> {
    let spans = Spans::new(to.ratio);
    let (stop, stopping) = oneshot::channel();
    let sending = Sending {
        collector: Collector::new(to)?,
        node: node.to_owned(),
        spans: spans.clone(),
        failing: Failing::No,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let run = move || runtime.block_on(sending.run(stopping));
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
    async fn run(mut self, mut stopping: oneshot::Receiver<()>) {
        let mut stops = false;
        while !stops {
            tokio::select! {
                _ = timeout(LINGER, self.spans.full()) => {}
                _ = &mut stopping => stops = true,
            }
            self.send_all().await;
        }
    }

    /// A collector that is gone is tried once, and not for each batch: there is a next time, or the gateway stops.
    async fn send_all(&mut self) {
        let dropped = self.spans.take_dropped();
        if dropped > 0 {
            tracing::warn!(spans = dropped, "spans were dropped: the collector does not keep up");
        }
        while let Some(batch) = self.spans.take() {
            self.send(batch).await;
            if self.failing == Failing::Told {
                return;
            }
        }
    }

    /// A batch that cannot be sent is lost: the next one is more telling than one that is late.
    async fn send(&mut self, batch: Vec<u8>) {
        let head = trace_request_head(batch.len(), &self.node);
        let spans = Bytes::from(batch);
        let sent = self.collector.export(head, spans.clone()).await;
        if spans.is_unique() {
            self.spans.reuse(spans.into());
        }
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
    }
}
