//! What is done to a gateway, its database and its receivers: chosen by a seed, written down with its moments.
//!
//! Three lanes strike at the same time: the machine, the operator and the receivers. Each does one thing after the
//! other, and puts it right again before the next. A fourth looks whether the machine itself stands still.

mod machine;
mod operator;
mod plan;
mod receivers;
mod stalls;

use crate::fleet::{Fleet, Store};
use crate::history::{Fault, Moment, Struck};
use crate::rig::random::Random;
use crate::sink::Sink;
use crate::stage::Stage;
use crate::watch::Watch;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A run's nemesis at work.
pub struct Nemesis {
    shared: Arc<Shared>,
    lanes: Vec<JoinHandle<anyhow::Result<()>>>,
}

/// Strikes until the run is over.
type Lane = fn(&Shared, Random) -> anyhow::Result<()>;

/// The names of all that a run may do to a process, a database or a receiver.
pub fn deeds() -> Vec<String> {
    let moods = crate::sink::Mood::ALL.iter().map(|mood| format!("{mood:?}"));
    machine::names().chain(moods).collect()
}

/// The least and the most between two blows to the machine, for a run in which processes are to grow old.
pub fn seldom(store: Store, duration: Duration) -> [Duration; 2] {
    plan::seldom(duration, machine::blows(store).len())
}

/// What all lanes know.
struct Shared {
    watch: Watch,
    fleet: Arc<Fleet>,
    stage: Arc<Stage>,
    sink: Arc<Sink>,
    log: Mutex<Log>,
    over: AtomicBool,
    changed: Condvar,
    /// The least and the most between two blows to the machine.
    rest: [Duration; 2],
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// What may have cut attempts off.
    pub faults: Vec<Fault>,
    /// All that was done, with the moment it began.
    pub deeds: Vec<(Moment, String)>,
}

impl Nemesis {
    /// Begins to strike; the machine rests for so long at least and at most between two blows.
    pub fn start(
        watch: Watch,
        fleet: &Arc<Fleet>,
        stage: &Arc<Stage>,
        sink: &Arc<Sink>,
        rest: [Duration; 2],
        seed: u64,
    ) -> Self {
        let shared = Arc::new(Shared {
            watch,
            fleet: Arc::clone(fleet),
            stage: Arc::clone(stage),
            sink: Arc::clone(sink),
            log: Mutex::default(),
            over: AtomicBool::new(false),
            changed: Condvar::new(),
            rest,
        });
        let lanes: [Lane; 4] = [machine::strike, operator::strike, receivers::strike, stalls::watch];
        let lane = |(number, strike): (u64, Lane)| {
            let (shared, random) = (Arc::clone(&shared), Random::seeded(seed.wrapping_add(number << 32)));
            thread::spawn(move || strike(&shared, random))
        };
        let lanes = (1..).zip(lanes).map(lane).collect();
        Nemesis { shared, lanes }
    }

    /// Lets every lane put right what it did; gives what was done, and what is wrong with how lanes ended: one that could
    /// not go on says something about the gateway, and the run is judged all the same.
    pub fn stop(self) -> (Log, Vec<String>) {
        self.shared.over.store(true, Ordering::Relaxed);
        drop(self.shared.log());
        self.shared.changed.notify_all();
        let wrong = self.lanes.into_iter().filter_map(ended_wrong).collect();
        let log = self.shared.log().clone();
        (log, wrong)
    }
}

/// Waits for the end of a lane; gives what is wrong with it.
fn ended_wrong(lane: JoinHandle<anyhow::Result<()>>) -> Option<String> {
    match lane.join() {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(format!("a lane of the nemesis could not go on: {error:#}")),
        Err(_) => Some("a lane of the nemesis panicked".to_owned()),
    }
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Lets time pass, less when the run is over.
    fn pass(&self, duration: Duration) {
        let waits = |_: &mut Log| !self.is_over();
        drop(self.changed.wait_timeout_while(self.log(), duration, waits));
    }

    /// Writes down what is about to be done; gives the moment.
    fn does(&self, what: &str) -> Moment {
        let mut log = self.log();
        let now = self.watch.now();
        log.deeds.push((now, what.to_owned()));
        now
    }

    /// Writes down that since a moment something may have been cut off, until now or a little later.
    fn fault(&self, what: &str, struck: Struck, from: Moment, later: Duration) {
        let until = self.watch.now() + later.as_micros() as Moment;
        self.log().faults.push(Fault { what: what.to_owned(), struck, from, until });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_that_errs_or_panics_is_told_and_one_that_ends_is_not() {
        let lane = |strike: fn() -> anyhow::Result<()>| ended_wrong(thread::spawn(strike));
        assert_eq!(lane(|| Ok(())), None);
        let told = lane(|| Err(anyhow::anyhow!("not all nodes are ready").context("Freeze node 1")));
        assert_eq!(
            told.as_deref(),
            Some("a lane of the nemesis could not go on: Freeze node 1: not all nodes are ready")
        );
        assert_eq!(lane(|| panic!("as planted")).as_deref(), Some("a lane of the nemesis panicked"));
    }
}
