//! One attempt from its job to its report. Whatever happens inside, there is a report, and so the slot comes back.

use super::connect::{Connector, problem};
use super::exchange::{Trace, exchange};
use super::passed_on::{TRACEPARENT, TRACESTATE};
use super::pool::Pool;
use super::request::{build, shown};
use super::target::{Ready, Target};
use crate::clock::Clock;
use crate::routing::Plan;
use crate::traces::{Spans, TraceContext, span_of_attempt};
use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, Request};
use http_body_util::Full;
use postrider_core::delivery::Ticket;
use postrider_core::outcome::Outcome;
use postrider_core::retry_after;
use postrider_core::time::Timestamp;
use postrider_store::{ErrorKind, EventContent, Headers, Problem};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An attempt to make.
pub(crate) struct Job {
    /// Which worker it was given to.
    pub(crate) worker: usize,
    pub(crate) ticket: Ticket,
    pub(crate) target: Arc<Target>,
    pub(crate) content: Arc<EventContent>,
    /// What its route has sent in the place of the event.
    pub(crate) rewrite: Option<Rewrite>,
}

/// A route's transform with the name of the source, which the event does not carry.
pub(crate) struct Rewrite {
    pub(crate) plan: Arc<Plan>,
    pub(crate) source: String,
}

/// An attempt that was made.
pub(crate) struct AttemptReport {
    pub(crate) worker: usize,
    pub(crate) ticket: Ticket,
    pub(crate) content: Arc<EventContent>,
    pub(crate) started_at: Timestamp,
    pub(crate) outcome: Outcome,
    pub(crate) problem: Option<Problem>,
    pub(crate) request_headers: Headers,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) trace: Trace,
}

pub(crate) struct Sender {
    pub(crate) connector: Arc<Connector>,
    pub(crate) pool: Pool,
    pub(crate) clock: Clock,
    /// Where attempts are told as spans, when they are.
    pub(crate) spans: Option<Spans>,
}

/// One exchange and how it is judged, whatever it was for.
pub(crate) struct Made {
    pub(crate) started_at: Timestamp,
    pub(crate) outcome: Outcome,
    pub(crate) problem: Option<Problem>,
    pub(crate) request_headers: Headers,
    pub(crate) trace: Trace,
}

impl Sender {
    pub(crate) async fn attempt(&self, job: Job) -> AttemptReport {
        let number = job.ticket.attempts + 1;
        let prepare = || {
            #[cfg(test)]
            assert!(!job.content.body.starts_with(b"panic!"), "planted by a test");
            job.rewrite.as_ref().map(|rewrite| rewrite.apply(&job.content)).transpose()
        };
        // Of the event as it came: a transform makes another body, not another trace.
        let trace = self.trace(&job);
        let request = |ready: &Ready, rewritten: &Option<EventContent>| {
            let content = rewritten.as_ref().unwrap_or(&job.content);
            let mut request = build(ready, content, job.ticket.event, number, self.clock);
            if let Some(trace) = &trace {
                go_on(trace, span_of_attempt(job.ticket.delivery, number), request.headers_mut());
            }
            request
        };
        let Made { started_at, outcome, problem, request_headers, trace } =
            self.make(&job.target, prepare, request).await;
        let asked = trace.retry_after.as_deref();
        let retry_after = asked.and_then(|value| retry_after::parse(value, self.clock.wall()));
        let Job { worker, ticket, content, .. } = job;
        let report = AttemptReport {
            worker,
            ticket,
            content,
            started_at,
            outcome,
            problem,
            request_headers,
            retry_after,
            trace,
        };
        if let Some(spans) = &self.spans {
            spans.attempted(&report);
        }
        report
    }

    /// The trace of the sender; one of our own only where somebody collects its spans.
    fn trace(&self, job: &Job) -> Option<TraceContext> {
        let own = || self.spans.as_ref().map(|_| TraceContext::begun_by(job.ticket.event));
        TraceContext::of(&job.content.headers).or_else(own)
    }

    /// Makes one exchange under the target's deadline: prepares once, and builds a request for each try of it.
    pub(crate) async fn make<T>(
        &self,
        target: &Target,
        prepare: impl FnOnce() -> Result<T, Problem>,
        request: impl Fn(&Ready, &T) -> Request<Full<Bytes>>,
    ) -> Made {
        let (started, started_at) = (Instant::now(), self.clock.now());
        let (mut trace, mut request_headers) = (Trace::default(), Headers::default());
        let run = self.run(target, prepare, request, &mut trace, &mut request_headers);
        let caught = AssertUnwindSafe(tokio::time::timeout(target.timeout, run)).catch_unwind().await;
        trace.timing.total = started.elapsed();
        let (outcome, problem) = match caught {
            Ok(Ok(Ok(()))) => judge(trace.status),
            Ok(Ok(Err(problem))) => (outcome_of(problem.kind), Some(problem)),
            Ok(Err(_elapsed)) => (Outcome::Timeout, Some(timed_out(target, &trace))),
            Err(_panic) => (Outcome::Cancelled, Some(internal())),
        };
        Made { started_at, outcome, problem, request_headers, trace }
    }

    async fn run<T>(
        &self,
        target: &Target,
        prepare: impl FnOnce() -> Result<T, Problem>,
        request: impl Fn(&Ready, &T) -> Request<Full<Bytes>>,
        trace: &mut Trace,
        request_headers: &mut Headers,
    ) -> Result<(), Problem> {
        let unusable = |why: &String| {
            problem(ErrorKind::BadRequest, format!("The destination's settings cannot be used: {why}."))
        };
        let ready = target.ready.as_ref().map_err(unusable)?;
        let prepared = prepare()?;
        let request = || {
            let request = request(ready, &prepared);
            *request_headers = shown(request.headers(), usize::MAX);
            request
        };
        exchange(&self.connector, &self.pool, target, ready, request, trace).await
    }
}

/// A header of the destination's own stands above it.
fn go_on(trace: &TraceContext, span: [u8; 8], headers: &mut HeaderMap) {
    if headers.contains_key(TRACEPARENT) {
        return;
    }
    headers.insert(TRACEPARENT, trace.traceparent(span));
    if let Some(state) = trace.tracestate() {
        headers.insert(TRACESTATE, state);
    }
}

impl Rewrite {
    /// It runs here, on the worker's thread, so that no decision waits for it.
    fn apply(&self, content: &EventContent) -> Result<EventContent, Problem> {
        let failed = |failure| {
            problem(
                ErrorKind::Transform,
                format!("The transform of {} failed: {failure}.", self.plan.route.id),
            )
        };
        self.plan.rewritten(content, &self.source).map_err(failed)
    }
}

fn judge(status: Option<u16>) -> (Outcome, Option<Problem>) {
    let status = status.expect("a whole answer has a status");
    let outcome = Outcome::from_status(status);
    if outcome == Outcome::Success {
        return (outcome, None);
    }
    let sentence = match status {
        300..=399 => format!("The receiver answered {status}; redirects are never followed."),
        410 => "The receiver answered 410 Gone: it does not want this any more.".to_owned(),
        _ => format!("The receiver answered {status}."),
    };
    (outcome, Some(problem(ErrorKind::Status, sentence)))
}

fn outcome_of(kind: ErrorKind) -> Outcome {
    match kind {
        ErrorKind::BadRequest | ErrorKind::Transform | ErrorKind::Internal => Outcome::Cancelled,
        _ => Outcome::NetworkError,
    }
}

fn timed_out(target: &Target, trace: &Trace) -> Problem {
    let reached = match (trace.status, trace.timing.connect) {
        (Some(status), _) => format!("the answer had begun with {status} but did not end"),
        (None, Some(_)) => "it was connected but did not answer".to_owned(),
        (None, None) => "it did not answer".to_owned(),
    };
    problem(ErrorKind::Timeout, format!("No whole answer within {} s: {reached}.", target.timeout.as_secs()))
}

fn internal() -> Problem {
    problem(ErrorKind::Internal, "The attempt failed inside the gateway; the log has the cause.".to_owned())
}
