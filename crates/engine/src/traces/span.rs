//! Spans, written as they leave, where they are made, and waiting for the exporter. Each thread fills a batch of its own, so
//! that they do not wait for each other. What finds no room is dropped and counted: nothing waits for a collector.

use super::context::{SampleRatio, TraceContext, span_of_attempt, span_of_event};
use super::protobuf::{bytes, delimited, fixed, integer, number, text, text_of};
use crate::send::{AttemptReport, here};
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId, SourceId};
use postrider_core::outcome::Outcome;
use postrider_core::time::Timestamp;
use postrider_store::{EventContent, Headers};
use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Spans that leave in one request: well below the 4 MiB that collectors take by default.
const BATCH_BYTES: usize = 512 << 10;
/// Full batches that wait for the exporter: 8 MiB, a second's worth at ten thousand events a second.
const BATCHES_MAX: usize = 16;
/// Batches that are being filled. With more workers than this, some share one.
const BEGUN_MAX: usize = 8;
/// The field of a span in what it is a part of.
const SPAN: u64 = 2;
const ATTRIBUTE: u64 = 9;
const ID_BYTES: usize = EventId::TEXT_BYTES;
const _: () = assert!(ID_BYTES == AccountId::TEXT_BYTES && ID_BYTES == SourceId::TEXT_BYTES);
const _: () = assert!(ID_BYTES == DeliveryId::TEXT_BYTES && ID_BYTES == DestinationId::TEXT_BYTES);
const KIND_SERVER: u64 = 2;
const KIND_CLIENT: u64 = 3;
const STATUS_ERROR: u64 = 2;

/// Where spans leave.
#[derive(Clone, Debug, Default)]
pub struct Spans(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    ratio: SampleRatio,
    begun: [Begun; BEGUN_MAX],
    waiting: Mutex<Waiting>,
    /// A batch is full.
    full: Notify,
    dropped: AtomicU64,
}

/// A batch that a thread fills. In cache lines of its own: what one writes there is not to slow the others.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Begun(Mutex<Vec<u8>>);

impl Begun {
    /// Who panicked left half a span in it, behind which nothing could be read.
    fn batch(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(|poisoned| {
            self.0.clear_poison();
            let mut batch = poisoned.into_inner();
            batch.clear();
            batch
        })
    }
}

#[derive(Debug, Default)]
struct Waiting {
    full: VecDeque<Vec<u8>>,
    /// Room of a batch that has left, for the next one.
    spare: Vec<u8>,
}

impl Spans {
    /// Of the traces that begin here, as many as the ratio says are told.
    pub fn new(ratio: SampleRatio) -> Self {
        Spans(Arc::new(Shared { ratio, ..Shared::default() }))
    }

    /// How many found no room since this was last asked.
    pub fn take_dropped(&self) -> u64 {
        self.0.dropped.swap(0, Relaxed)
    }

    /// The oldest batch that is full, in the form of a request's part.
    pub fn take_full(&self) -> Option<Vec<u8>> {
        self.waiting().full.pop_front()
    }

    /// What is in the others.
    pub fn take_begun(&self) -> Vec<Vec<u8>> {
        let batches = self.0.begun.iter().map(|begun| std::mem::take(&mut *begun.batch()));
        batches.filter(|batch| !batch.is_empty()).collect()
    }

    /// Takes back the room of a batch that has left.
    pub fn reuse(&self, mut batch: Vec<u8>) {
        batch.clear();
        self.waiting().spare = batch;
    }

    /// Returns once a batch has become full.
    pub async fn full(&self) {
        self.0.full.notified().await;
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, span: impl FnOnce(&mut Vec<u8>)) {
        let mut batch = self.0.begun[here().unwrap_or_default() % BEGUN_MAX].batch();
        if batch.len() >= BATCH_BYTES && !self.hand_over(&mut batch) {
            self.0.dropped.fetch_add(1, Relaxed);
            return;
        }
        delimited(&mut batch, SPAN, span);
        if batch.len() >= BATCH_BYTES {
            self.hand_over(&mut batch);
        }
    }

    /// Puts a full batch to those that wait, if there is room; then the next can be begun.
    fn hand_over(&self, batch: &mut Vec<u8>) -> bool {
        let mut waiting = self.waiting();
        if waiting.full.len() == BATCHES_MAX {
            return false;
        }
        let room = std::mem::take(&mut waiting.spare);
        waiting.full.push_back(std::mem::replace(batch, room));
        drop(waiting);
        self.0.full.notify_one();
        true
    }

    /// An event was accepted.
    pub(crate) fn accepted(&self, event: EventId, content: &EventContent, now: Timestamp) {
        let context = self.context(event, &content.headers);
        if !context.is_sampled() {
            return;
        }
        self.write(|span| {
            bytes(span, 1, &context.trace);
            bytes(span, 2, &span_of_event(event));
            if let Some(parent) = &context.parent {
                bytes(span, 4, parent);
            }
            let took = now.since(content.received_at);
            told(span, &context, ("accept", KIND_SERVER), content.received_at, took);
            id(span, "postrider.event.id", |text| event.append_to(text));
            id(span, "postrider.account.id", |text| content.account.append_to(text));
            integer(span, ATTRIBUTE, "messaging.message.body.size", whole(content.body.len()));
            if let Some(source) = content.origin.source() {
                id(span, "postrider.source.id", |text| source.append_to(text));
            }
            if let Some(event_type) = &content.event_type {
                text(span, ATTRIBUTE, "postrider.event.type", event_type.as_str());
            }
        });
    }

    /// The trace of an event: its sender's, or one that begins with it.
    pub(crate) fn context(&self, event: EventId, headers: &Headers) -> TraceContext {
        TraceContext::of(headers).unwrap_or_else(|| TraceContext::begun_by(event, self.0.ratio))
    }

    /// An attempt was made.
    pub(crate) fn attempted(&self, report: &AttemptReport, context: &TraceContext) {
        let ticket = &report.ticket;
        if !context.is_sampled() {
            return;
        }
        let attempt = ticket.attempts + 1;
        let problem = report.problem.as_ref().filter(|_| report.outcome != Outcome::Success);
        self.write(|span| {
            bytes(span, 1, &context.trace);
            bytes(span, 2, &span_of_attempt(ticket.delivery, attempt));
            bytes(span, 4, &span_of_event(ticket.event));
            told(span, context, ("deliver", KIND_CLIENT), report.started_at, report.trace.timing.total);
            id(span, "postrider.event.id", |text| ticket.event.append_to(text));
            id(span, "postrider.delivery.id", |text| ticket.delivery.append_to(text));
            id(span, "postrider.destination.id", |text| {
                ticket.line.destination.append_to(text);
            });
            id(span, "postrider.account.id", |text| report.content.account.append_to(text));
            integer(span, ATTRIBUTE, "postrider.attempt", attempt.into());
            text(span, ATTRIBUTE, "postrider.outcome", report.outcome.as_str());
            if let Some(status) = report.trace.status {
                integer(span, ATTRIBUTE, "http.response.status_code", status.into());
            }
            if let Some(problem) = problem {
                delimited(span, 15, |status| {
                    bytes(status, 2, problem.sentence.as_bytes());
                    number(status, 3, STATUS_ERROR);
                });
            }
        });
    }
}

/// What every span tells: what it is, when it began, how long it took.
fn told(
    span: &mut Vec<u8>,
    context: &TraceContext,
    (name, kind): (&str, u64),
    began: Timestamp,
    took: Duration,
) {
    if let Some(state) = &context.state {
        bytes(span, 3, state.as_bytes());
    }
    bytes(span, 5, name.as_bytes());
    number(span, 6, kind);
    let began_ns = began.unix_ms().saturating_mul(1_000_000);
    fixed(span, 7, began_ns);
    fixed(span, 8, began_ns.saturating_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX)));
}

/// Ids are all of one length.
fn id(span: &mut Vec<u8>, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
    text_of(span, ATTRIBUTE, name, ID_BYTES, write);
}

fn whole(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send::stay_at;
    use futures_util::FutureExt as _;

    #[test]
    fn spans_leave_in_batches_and_what_finds_no_room_is_counted() {
        let spans = Spans::default();
        let write =
            |count: usize| (0..count).for_each(|_| spans.write(|span| span.resize(span.len() + 1020, 0)));
        let in_a_batch = BATCH_BYTES / 1024;
        write(1);
        assert!(spans.full().now_or_never().is_none(), "nothing to hurry for");
        write(in_a_batch - 1);
        assert!(spans.full().now_or_never().is_some());
        // One more is full, and stays where it was filled.
        write(in_a_batch * BATCHES_MAX + 3);
        assert_eq!((spans.take_dropped(), spans.take_dropped()), (3, 0));
        let taken: Vec<Vec<u8>> = std::iter::from_fn(|| spans.take_full()).collect();
        assert_eq!((taken.len(), taken.iter().map(Vec::len).max()), (BATCHES_MAX, Some(BATCH_BYTES)));
        write(1);
        let sizes = |batches: Vec<Vec<u8>>| batches.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(spans.take_full().into_iter().collect()), [BATCH_BYTES]);
        assert_eq!((sizes(spans.take_begun()), spans.take_dropped()), (vec![1024], 0));
        assert_eq!(sizes(spans.take_begun()), [0; 0]);
    }

    #[test]
    fn half_a_span_does_not_leave() {
        let spans = Spans::default();
        let half = |span: &mut Vec<u8>| {
            span.push(1);
            panic!("planted by a test");
        };
        std::panic::catch_unwind(|| spans.write(half)).unwrap_err();
        spans.write(|span| span.push(2));
        assert_eq!(spans.take_begun(), [[18, 0x81, 0x80, 0, 2]]);
    }

    #[test]
    fn a_span_is_in_the_batch_of_its_thread_and_in_no_other() {
        let spans = Spans::default();
        let write = |of: u8| spans.write(|span| span.push(of));
        write(1);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                stay_at(1);
                write(2);
            });
        });
        write(3);
        let spans: Vec<Vec<u8>> = spans.take_begun();
        let told: Vec<Vec<u8>> =
            spans.iter().map(|batch| batch.iter().skip(4).step_by(5).copied().collect()).collect();
        assert_eq!(told, [vec![1, 3], vec![2]]);
    }
}
