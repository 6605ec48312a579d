//! Runs attempts on one runtime: takes jobs, and reports each of them back.

use super::attempt::{Job, Report, Sender};
use crate::ingest::{Answer, Reply};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use postrider_core::limits::{COMMIT_EVENTS_MAX, INGEST_WAITING_MAX, SLOTS_MAX};
use std::cell::Cell;
use std::time::Duration;
use tokio::sync::mpsc;

/// How often idle connections are looked through.
const SWEEP: Duration = Duration::from_secs(5);

thread_local! {
    /// The worker whose runtime this thread runs.
    static HERE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The worker of this thread, if it is one's.
pub(crate) fn here() -> Option<usize> {
    HERE.get()
}

/// This thread is this worker's from now on.
pub(crate) fn stay_at(number: usize) {
    HERE.set(Some(number));
}

/// What a worker is told in one go. Telling it wakes its thread by a system call, so a whole commit's worth is
/// told at once: attempts to make, and senders of that thread to answer.
#[derive(Default)]
pub(crate) struct Orders {
    jobs: Vec<Job>,
    answers: Vec<(Reply, Answer)>,
}

/// The dispatcher's side of a worker.
pub(crate) struct WorkerHandle {
    orders: mpsc::Sender<Orders>,
    next: Orders,
    pub(crate) in_flight: usize,
}

impl WorkerHandle {
    pub(crate) fn give(&mut self, job: Job) {
        self.in_flight += 1;
        self.next.jobs.push(job);
    }

    pub(crate) fn answer(&mut self, reply: Reply, answer: Answer) {
        self.next.answers.push((reply, answer));
    }

    /// Sends off what was given since the last time. `false` when the worker has ended.
    #[must_use]
    pub(crate) fn flush(&mut self) -> bool {
        if self.next.jobs.is_empty() && self.next.answers.is_empty() {
            return true;
        }
        let sent = self.orders.try_send(std::mem::take(&mut self.next));
        assert!(sent.is_ok() || self.orders.is_closed(), "a worker has room for all that can wait for it");
        sent.is_ok()
    }
}

/// A worker, to be run on the runtime of its thread.
pub struct SendWorker {
    number: usize,
    sender: Sender,
    orders: mpsc::Receiver<Orders>,
    reports: mpsc::Sender<Report>,
}

impl SendWorker {
    pub(crate) fn new(
        number: usize,
        sender: Sender,
        reports: mpsc::Sender<Report>,
    ) -> (WorkerHandle, SendWorker) {
        // There are never more orders than attempts and answers that wait, so the channel is never full.
        let (orders, inbox) = mpsc::channel(SLOTS_MAX as usize + INGEST_WAITING_MAX + COMMIT_EVENTS_MAX);
        let handle = WorkerHandle { orders, next: Orders::default(), in_flight: 0 };
        (handle, SendWorker { number, sender, orders: inbox, reports })
    }

    /// Runs until the engine has stopped.
    pub async fn run(mut self) {
        stay_at(self.number);
        let sender = self.sender;
        // All in this task: one of its own for each would cost more to begin and to end.
        let mut attempts = FuturesUnordered::new();
        let mut sweep = tokio::time::interval(SWEEP);
        loop {
            tokio::select! {
                orders = self.orders.recv() => {
                    let Some(orders) = orders else { return };
                    orders.answers.into_iter().for_each(|(reply, answer)| reply.send(answer));
                    attempts.extend(orders.jobs.into_iter().map(|job| sender.attempt(job)));
                }
                Some(report) = attempts.next() => {
                    // There is room for every attempt in flight, and only an engine that has stopped does not want it
                    // any more.
                    let _ = self.reports.try_send(report);
                }
                _ = sweep.tick() => sender.pool.sweep(),
            }
        }
    }
}
