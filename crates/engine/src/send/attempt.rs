//! One attempt from its job to its report. Whatever happens inside, there is a report, and so the slot comes back.

use super::connect::{Connector, problem};
use super::exchange::{Trace, exchange};
use super::made_bodies::{MadeBodies, MadeBody};
use super::passed_on::{TRACEPARENT, TRACESTATE};
use super::pool::Pool;
use super::request::{Request, build};
use super::shortage::{Failure, Shortage};
use super::target::{Ready, Target};
use super::timers::Timers;
use crate::clock::Clock;
use crate::expression::Facts;
use crate::lease::Lease;
use crate::routing::Plan;
use crate::traces::{Spans, TraceContext, span_of_attempt};
use postrider_core::delivery::Ticket;
use postrider_core::outcome::Outcome;
use postrider_core::retry_after;
use postrider_core::time::Timestamp;
use postrider_store::containment::{contain, contain_poll};
use postrider_store::{ErrorKind, EventContent, Headers, Problem};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

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

/// What came of a job.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are the large one, which a box would cost an allocation each"
)]
pub(crate) enum Report {
    Made(AttemptReport),
    /// Nothing was sent.
    Deferred(Deferred),
}

/// A job that the node had nothing left for.
pub(crate) struct Deferred {
    pub(crate) worker: usize,
    pub(crate) ticket: Ticket,
    pub(crate) shortage: Shortage,
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
    pub(crate) timers: Timers,
    pub(crate) clock: Clock,
    pub(crate) lease: Lease,
    /// Where attempts are told as spans, when they are.
    pub(crate) spans: Option<Spans>,
    pub(crate) made_bodies: Arc<MadeBodies>,
}

/// What a transform has made of an event, and its part of the memory for such.
type Rewritten = (EventContent, Option<MadeBody>);

/// One exchange and how it is judged, whatever it was for.
pub(crate) struct Made {
    pub(crate) started_at: Timestamp,
    pub(crate) outcome: Outcome,
    pub(crate) problem: Option<Problem>,
    pub(crate) request_headers: Headers,
    pub(crate) trace: Trace,
    /// For want of this nothing was sent.
    pub(crate) shortage: Option<Shortage>,
}

impl Sender {
    pub(crate) async fn attempt(&self, job: Job) -> Report {
        let number = job.ticket.attempts + 1;
        let prepare = || {
            #[cfg(test)]
            planted(&job.content, "prepare");
            job.rewrite.as_ref().map(|rewrite| self.rewrite(&job, rewrite)).transpose()
        };
        // Of the event as it came: a transform makes another body, not another trace.
        let context = caught(|| self.context(&job)).flatten();
        let request = |ready: &Ready, rewritten: &Option<Rewritten>| {
            let content = rewritten.as_ref().map_or(&*job.content, |(content, _)| content);
            let mut request = build(ready, content, job.ticket.event, number, self.clock);
            if let Some(context) = context.as_ref().filter(|context| context.is_told()) {
                go_on(context, span_of_attempt(job.ticket.delivery, number), ready, &mut request);
            }
            request
        };
        let made = self.make(&job.target, prepare, request).await;
        let Made { started_at, outcome, problem, request_headers, trace, shortage } = made;
        if let Some(shortage) = shortage {
            return Report::Deferred(Deferred { worker: job.worker, ticket: job.ticket, shortage });
        }
        let retry_after = caught(|| {
            #[cfg(test)]
            planted(&job.content, "retry-after");
            retry_after::parse(trace.retry_after.as_deref()?, self.clock.wall())
        });
        let Job { worker, ticket, content, .. } = job;
        let report = AttemptReport {
            worker,
            ticket,
            content,
            started_at,
            outcome,
            problem,
            request_headers,
            retry_after: retry_after.flatten(),
            trace,
        };
        if let Some((spans, context)) = self.spans.as_ref().zip(context) {
            caught(|| {
                #[cfg(test)]
                planted(&report.content, "span");
                spans.attempted(&report, &context);
            });
        }
        Report::Made(report)
    }

    /// A body that is the event's own is in memory already.
    fn rewrite(&self, job: &Job, rewrite: &Rewrite) -> Result<Rewritten, Failure> {
        let content = rewrite.apply(&job.content)?;
        if content.body.as_ptr() == job.content.body.as_ptr() {
            return Ok((content, None));
        }
        let destination = job.ticket.line.destination;
        let counted = self.made_bodies.take(content.account, destination, content.body.len())?;
        Ok((content, counted))
    }

    /// The trace of the sender; one of our own only where somebody collects its spans.
    fn context(&self, job: &Job) -> Option<TraceContext> {
        #[cfg(test)]
        planted(&job.content, "context");
        let headers = &job.content.headers;
        match &self.spans {
            Some(spans) => Some(spans.context(job.ticket.event, headers)),
            None => TraceContext::of(headers),
        }
    }

    /// Makes one exchange under the target's deadline: prepares once, and builds a request for each try of it.
    pub(crate) async fn make<T>(
        &self,
        target: &Target,
        prepare: impl FnOnce() -> Result<T, Failure>,
        request: impl Fn(&Ready, &T) -> Request,
    ) -> Made {
        let started_at = self.clock.now();
        let (mut trace, mut request_headers) = (Trace::start(), Headers::default());
        let mut timer = self.timers.take(target.timeout);
        let caught = {
            let mut run = pin!(self.run(target, prepare, request, &mut trace, &mut request_headers));
            let mut in_time = |cx: &mut std::task::Context<'_>| match run.as_mut().poll(cx) {
                Poll::Ready(ended) => Poll::Ready(Some(ended)),
                Poll::Pending => timer.as_mut().poll(cx).map(|()| None),
            };
            poll_fn(|cx| contain_poll(|| in_time(cx))).await
        };
        self.timers.put(timer);
        trace.end();
        let mut shortage = None;
        let (outcome, problem) = match caught {
            Ok(Some(Ok(()))) => judge(trace.status),
            Ok(Some(Err(Failure::Problem(problem)))) => (outcome_of(problem.kind), Some(problem)),
            Ok(Some(Err(Failure::Shortage(of)))) => {
                shortage = Some(of);
                (Outcome::Cancelled, Some(unsent(of)))
            }
            Ok(None) => (Outcome::Timeout, Some(timed_out(target, &trace))),
            Err(_panic) => (Outcome::Cancelled, Some(internal())),
        };
        Made { started_at, outcome, problem, request_headers, trace, shortage }
    }

    async fn run<T>(
        &self,
        target: &Target,
        prepare: impl FnOnce() -> Result<T, Failure>,
        request: impl Fn(&Ready, &T) -> Request,
        trace: &mut Trace,
        request_headers: &mut Headers,
    ) -> Result<(), Failure> {
        let unusable = |why: &String| {
            problem(ErrorKind::BadRequest, format!("The destination's settings cannot be used: {why}."))
        };
        let ready = target.ready.as_ref().map_err(unusable)?;
        let prepared = prepare()?;
        // Built when there is a connection to write it to.
        let request = || {
            if !self.lease.holds() {
                return Err(without_lease());
            }
            let mut request = request(ready, &prepared);
            *request_headers = std::mem::take(&mut request.shown);
            Ok(request)
        };
        exchange(&self.connector, &self.pool, target, ready, request, trace).await
    }
}

/// What can be left out of an attempt without it being another: if it panics, the attempt goes on without.
fn caught<T>(part: impl FnOnce() -> T) -> Option<T> {
    contain(part).ok()
}

/// A panic for a body that asks for one at this place.
#[cfg(test)]
fn planted(content: &EventContent, place: &str) {
    assert!(content.body != format!("panic! {place}"), "planted by a test");
}

/// A header of the destination's own stands above it.
fn go_on(trace: &TraceContext, span: [u8; 8], ready: &Ready, request: &mut Request) {
    if request.has_own(ready, TRACEPARENT) {
        return;
    }
    request.put(ready, TRACEPARENT, &trace.traceparent(span));
    if let Some(state) = &trace.state {
        request.put(ready, TRACESTATE, state);
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
        self.plan.rewritten(content, &Facts::of(content, &self.source)).map_err(failed)
    }
}

fn judge(status: Option<u16>) -> (Outcome, Option<Problem>) {
    let status = status.expect("a whole answer has a status");
    let outcome = Outcome::from_status(status);
    if outcome == Outcome::Success {
        return (outcome, None);
    }
    let sentence = match status {
        300..=399 => format!("The receiver responded {status}; redirects are never followed."),
        410 => "The receiver responded 410 Gone.".to_owned(),
        _ => format!("The receiver responded {status}."),
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
    let seconds = target.timeout.as_secs();
    let reached = match (trace.status, trace.timing.connect) {
        (Some(status), _) if trace.is_answered => {
            let sentence = format!(
                "The receiver responded {status} but did not read the whole event within {seconds} s."
            );
            return problem(ErrorKind::Timeout, sentence);
        }
        (Some(status), _) => format!("the response had started with {status} but did not end"),
        (None, Some(_)) => "connected, but it did not respond".to_owned(),
        // A name without an open address is looked up for longer than some attempts take, so that nobody learns which it is.
        (None, None) if is_named(target) && trace.timing.dns.is_none() => {
            "its host name has no allowed address, or the name servers do not respond".to_owned()
        }
        (None, None) => "it did not respond".to_owned(),
    };
    problem(ErrorKind::Timeout, format!("No complete response within {seconds} s: {reached}."))
}

/// Whether its address has to be looked up.
fn is_named(target: &Target) -> bool {
    target.ready.as_ref().is_ok_and(|ready| ready.url.literal_address().is_none())
}

/// Another node may be sending the same by now.
fn without_lease() -> Problem {
    let sentence = "Nothing was sent: the node's lease had ended before there was a connection.";
    problem(ErrorKind::Internal, sentence.to_owned())
}

fn unsent(shortage: Shortage) -> Problem {
    problem(ErrorKind::Internal, format!("Nothing was sent: {shortage}."))
}

fn internal() -> Problem {
    problem(ErrorKind::Internal, "The attempt failed inside the gateway; the log has the cause.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::pool::IdleMax;
    use super::super::request::ask_consent;
    use super::super::{AddressGuard, DestinationUrl, tls_config};
    use super::*;
    use postrider_core::id::{AccountId, DestinationId};
    use postrider_core::scheduler::ByteLimits;
    use std::time::Instant;
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;

    /// What a receiver gets to read when the lease ends so.
    async fn received(lease: Lease) -> (Outcome, Vec<u8>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let url = DestinationUrl::parse(&url).unwrap();
        let target = Target::elsewhere(AccountId::from_u64(1), DestinationId::from_u64(1), url);
        let guard = AddressGuard::new(vec!["127.0.0.0/8".parse().unwrap()]);
        let connector = Arc::new(Connector::new(guard, tls_config()));
        let clock = Clock::start(Timestamp::ZERO);
        let (pool, timers) = (Pool::new(IdleMax::new(1, 1)), Timers::default());
        let made_bodies = MadeBodies::beside(ByteLimits::default());
        let sender = Sender { connector, pool, timers, clock, lease, spans: None, made_bodies };
        let request = |ready: &Ready, (): &()| ask_consent(ready, "here");
        let receiver = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut first = vec![0; 7];
            let read = stream.read(&mut first).await.unwrap();
            first.truncate(read);
            first
        };
        let (made, first) = tokio::join!(sender.make(&target, || Ok(()), request), receiver);
        (made.outcome, first)
    }

    #[tokio::test]
    async fn a_lease_that_ends_while_it_connects_leaves_the_request_unwritten() {
        let lease = Lease::default();
        assert_eq!(received(lease.clone()).await.1, b"OPTIONS");
        lease.renew(Instant::now());
        assert_eq!(received(lease.clone()).await, (Outcome::Cancelled, Vec::new()));
        lease.renew(Instant::now() + Duration::from_secs(60));
        assert_eq!(received(lease).await.1, b"OPTIONS");
    }
}
