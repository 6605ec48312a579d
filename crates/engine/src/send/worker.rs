//! Runs attempts on one runtime: takes jobs, and reports each of them back.

use super::attempt::{AttemptReport, Job, Sender};
use super::connect::Connector;
use super::pool::Pool;
use crate::clock::Clock;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How often idle connections are looked through.
const SWEEP: Duration = Duration::from_secs(5);

/// The dispatcher's side of a worker.
pub(crate) struct WorkerHandle {
    pub(crate) jobs: mpsc::Sender<Job>,
    pub(crate) in_flight: usize,
}

/// A worker, to be run on the runtime of its thread.
pub struct SendWorker {
    sender: Sender,
    jobs: mpsc::Receiver<Job>,
    reports: mpsc::Sender<AttemptReport>,
}

impl SendWorker {
    pub(crate) fn new(
        connector: Arc<Connector>,
        clock: Clock,
        slots: usize,
        reports: mpsc::Sender<AttemptReport>,
    ) -> (WorkerHandle, SendWorker) {
        // There are never more jobs than slots, so neither channel is ever full.
        let (jobs, inbox) = mpsc::channel(slots);
        let sender = Sender { connector, pool: Pool::default(), clock };
        (WorkerHandle { jobs, in_flight: 0 }, SendWorker { sender, jobs: inbox, reports })
    }

    /// Runs until the engine has stopped.
    pub async fn run(mut self) {
        let sender = Arc::new(self.sender);
        let mut sweep = tokio::time::interval(SWEEP);
        loop {
            tokio::select! {
                job = self.jobs.recv() => {
                    let Some(job) = job else { return };
                    let (sender, reports) = (Arc::clone(&sender), self.reports.clone());
                    tokio::spawn(async move {
                        let report = sender.attempt(job).await;
                        // Only an engine that has stopped does not want it any more.
                        let _ = reports.send(report).await;
                    });
                }
                _ = sweep.tick() => sender.pool.sweep(),
            }
        }
    }
}
