//! Traces to a collector, by OTLP. A thread of its own gathers spans and sends them; what it cannot send is dropped, so
//! that a collector that is slow or gone costs nothing but its traces.

mod collector;

use crate::config::TracesTo;
use anyhow::Context;
use bytes::Bytes;
use collector::Collector;
use postrider_engine::{Spans, trace_request_head};
use postrider_store::containment::contained;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

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
        let mut linger = tokio::time::interval(LINGER);
        linger.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // Those that are being filled wait: with each that leaves, they would leave sooner and smaller.
                () = self.spans.full() => self.send_each(full(&self.spans.clone())).await,
                _ = linger.tick() => self.send_each(all(&self.spans.clone())).await,
                _ = &mut stopping => return self.send_each(all(&self.spans.clone())).await,
            }
        }
    }

    /// A collector that is gone is tried once, and not for each batch: there is a next time, or the gateway stops.
    async fn send_each(&mut self, batches: impl Iterator<Item = Vec<u8>>) {
        let dropped = self.spans.take_dropped();
        if dropped > 0 {
            tracing::warn!(spans = dropped, "spans dropped: the collector cannot keep up");
        }
        for batch in batches {
            // What comes from outside is read here: a panic costs this batch.
            let _ = contained(self.send(batch)).await;
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
                tracing::info!("the collector accepts spans again");
            }
            Ok(()) => {}
            Err(error) if self.failing == Failing::No => {
                self.failing = Failing::Told;
                tracing::warn!(error = format!("{error:#}"), "failed to send spans to the collector");
            }
            Err(_) => {}
        }
    }
}

/// Batches that are full, also those that become so meanwhile.
fn full(spans: &Spans) -> impl Iterator<Item = Vec<u8>> {
    std::iter::from_fn(|| spans.take_full())
}

/// And then, once, those that are not.
fn all(spans: &Spans) -> impl Iterator<Item = Vec<u8>> {
    full(spans).chain(std::iter::once_with(|| spans.take_begun()).flatten())
}
