//! A span, and the queue that spans leave by. What finds no room is dropped and counted: nothing waits for a collector.

use super::context::{TraceContext, span_of_attempt, span_of_event};
use crate::send::AttemptReport;
use postrider_core::id::EventId;
use postrider_core::outcome::Outcome;
use postrider_core::time::Timestamp;
use postrider_store::EventContent;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::mpsc;

/// Spans that wait for the exporter: a second's worth at a few thousand events a second.
const SPANS_WAITING_MAX: usize = 8192;

/// What a span is to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// It answers a request.
    Server,
    /// It makes one.
    Client,
}

/// A value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum SpanValue {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
}

/// Something that took its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Of which trace.
    pub trace: [u8; 16],
    /// Its id.
    pub id: [u8; 8],
    /// What it is a part of.
    pub parent: Option<[u8; 8]>,
    /// What systems on the way have noted.
    pub state: Option<String>,
    /// What it is.
    pub name: &'static str,
    /// What it is to its parent.
    pub kind: SpanKind,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took.
    pub took: Duration,
    /// What it was about.
    pub attributes: Vec<(&'static str, SpanValue)>,
    /// What was wrong, when something was.
    pub error: Option<String>,
}

/// Where spans leave.
#[derive(Clone, Debug)]
pub struct Spans {
    queue: mpsc::Sender<Span>,
    dropped: Arc<AtomicU64>,
}

impl Spans {
    /// A queue, and the end where the exporter takes them.
    pub fn channel() -> (Spans, mpsc::Receiver<Span>) {
        let (queue, exporter) = mpsc::channel(SPANS_WAITING_MAX);
        (Spans { queue, dropped: Arc::default() }, exporter)
    }

    /// How many found no room since this was last asked.
    pub fn take_dropped(&self) -> u64 {
        self.dropped.swap(0, Relaxed)
    }

    fn offer(&self, span: Span) {
        if self.queue.try_send(span).is_err() {
            self.dropped.fetch_add(1, Relaxed);
        }
    }

    /// An event was accepted.
    pub(crate) fn accepted(&self, event: EventId, content: &EventContent, now: Timestamp) {
        let context = context(event, content);
        if !context.is_sampled() {
            return;
        }
        let mut attributes = vec![
            ("postrider.event.id", SpanValue::Text(event.to_string())),
            ("postrider.account.id", SpanValue::Text(content.account.to_string())),
            ("messaging.message.body.size", number(content.body.len())),
        ];
        let source =
            content.origin.source().map(|id| ("postrider.source.id", SpanValue::Text(id.to_string())));
        attributes.extend(source);
        let named = content.event_type.as_ref();
        attributes
            .extend(named.map(|known| ("postrider.event.type", SpanValue::Text(known.as_str().to_owned()))));
        self.offer(Span {
            trace: context.trace,
            id: span_of_event(event),
            parent: context.parent,
            state: context.state,
            name: "accept",
            kind: SpanKind::Server,
            started_at: content.received_at,
            took: now.since(content.received_at),
            attributes,
            error: None,
        });
    }

    /// An attempt was made.
    pub(crate) fn attempted(&self, report: &AttemptReport) {
        let ticket = &report.ticket;
        let context = context(ticket.event, &report.content);
        if !context.is_sampled() {
            return;
        }
        let attempt = ticket.attempts + 1;
        let mut attributes = vec![
            ("postrider.event.id", SpanValue::Text(ticket.event.to_string())),
            ("postrider.delivery.id", SpanValue::Text(ticket.delivery.to_string())),
            ("postrider.destination.id", SpanValue::Text(ticket.line.destination.to_string())),
            ("postrider.account.id", SpanValue::Text(report.content.account.to_string())),
            ("postrider.attempt", SpanValue::Number(i64::from(attempt))),
            ("postrider.outcome", SpanValue::Text(report.outcome.as_str().to_owned())),
        ];
        let status = report.trace.status;
        attributes
            .extend(status.map(|status| ("http.response.status_code", SpanValue::Number(status.into()))));
        let problem = report.problem.as_ref().filter(|_| report.outcome != Outcome::Success);
        self.offer(Span {
            trace: context.trace,
            id: span_of_attempt(ticket.delivery, attempt),
            parent: Some(span_of_event(ticket.event)),
            state: context.state,
            name: "deliver",
            kind: SpanKind::Client,
            started_at: report.started_at,
            took: report.trace.timing.total,
            attributes,
            error: problem.map(|problem| problem.sentence.clone()),
        });
    }
}

fn context(event: EventId, content: &EventContent) -> TraceContext {
    TraceContext::of(&content.headers).unwrap_or_else(|| TraceContext::begun_by(event))
}

fn number(value: usize) -> SpanValue {
    SpanValue::Number(i64::try_from(value).unwrap_or(i64::MAX))
}
