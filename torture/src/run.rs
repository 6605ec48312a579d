//! One run: set up, load and faults for a while, then the backlog drains and all is judged.

use crate::check::{Verdict, came_again, check, struck};
use crate::fleet::{Fleet, LEASE, Store};
use crate::history::{History, Moment, Record, SECOND};
use crate::load::Rate;
use crate::nemesis::{self, Log, Nemesis};
use crate::producer::{Ledger, Producers};
use crate::records::{STRUCK_MAX, records};
use crate::sink::Sink;
use crate::stage::{self, Stage};
use crate::watch::Watch;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The gateway.
    pub binary: PathBuf,
    /// Where it keeps events.
    pub store: Store,
    /// How long there are load and faults.
    pub duration: Duration,
    /// Of all chance.
    pub seed: u64,
    /// Events a second.
    pub rate: Rate,
    /// Whether anything is done to it.
    pub faults: Faults,
    /// Where the logs of a red run are kept, if anywhere.
    pub logs: Option<PathBuf>,
}

/// Whether there is a nemesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    /// All there are.
    All,
    /// The same, as far apart as lets each kind come once, so that processes grow old.
    Seldom,
    /// A clean run.
    None,
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// By the judge, with what else was wrong.
    pub verdict: Verdict,
    /// What was done.
    pub log: Log,
    /// The run as it was judged.
    pub history: History,
    /// From the end of all faults until nothing was owed.
    pub drained_in: Duration,
}

/// G11: what the backlog of any run must have drained in when faults have stopped.
const DRAIN: Duration = Duration::from_secs(180);
/// What nodes say of their queues may be some seconds old, and a retry may be due in a second.
const QUIET: Duration = Duration::from_secs(4);
const LOOK: Duration = Duration::from_millis(200);
/// How long a change of a destination takes to be heard on a busy machine.
const HEARD: Moment = 2 * SECOND;

/// Runs once. `each_second` is called while there is load.
pub fn run(options: &Options, mut each_second: impl FnMut(Watch, &Fleet, &Sink)) -> anyhow::Result<Outcome> {
    let watch = Watch::start();
    let fleet = Arc::new(Fleet::start(&options.binary, options.store));
    let sink = Arc::new(Sink::start(watch, &stage::paths(), fleet.addresses(), options.rate));
    let stage = Arc::new(Stage::set_up(&fleet.api(), &sink)?);
    // Every node has heard of everything.
    sleep(Duration::from_micros(HEARD));
    let began = Instant::now();
    let producers = Producers::start(watch, stage.orders(fleet.addresses(), options.seed, options.rate));
    let rest = match options.faults {
        Faults::None => None,
        Faults::All => Some([Duration::from_millis(500), Duration::from_secs(5)]),
        Faults::Seldom => Some(nemesis::seldom(options.store, options.duration)),
    };
    let nemesis = rest.map(|rest| Nemesis::start(watch, &fleet, &stage, &sink, rest, options.seed));
    while began.elapsed() < options.duration {
        sleep(Duration::from_secs(1).min(options.duration.saturating_sub(began.elapsed())));
        each_second(watch, &fleet, &sink);
    }
    let (log, wrong) = nemesis.map(Nemesis::stop).unwrap_or_default();
    let ledger = producers.stop();
    let outcome = judged(&Judged { fleet: &fleet, stage: &stage, sink: &sink, ledger, log, wrong });
    if let (false, Some(directory)) = (outcome.verdict.is_green(), &options.logs) {
        fleet.keep_logs(directory)?;
    }
    Ok(outcome)
}

/// A run after its faults.
struct Judged<'r> {
    fleet: &'r Fleet,
    stage: &'r Stage,
    sink: &'r Sink,
    ledger: Ledger,
    log: Log,
    /// With how the nemesis ended.
    wrong: Vec<String>,
}

fn judged(run: &Judged) -> Outcome {
    let (drained_in, mut wrong) = run.drain();
    let mut known = Vec::new();
    if wrong.is_empty() {
        let so_far = run.history(Vec::new());
        let mut asked = struck(&so_far, STRUCK_MAX);
        asked.extend(came_again(&so_far));
        match records(run.stage, &run.ledger.entries, &asked) {
            Ok(records) => known = records,
            Err(error) => wrong.push(format!("what the gateway knows could not be read: {error:#}")),
        }
    }
    wrong.extend(run.wrong.iter().cloned());
    wrong.extend(run.fleet.stop());
    wrong.extend(run.fleet.ended_by_themselves());
    wrong.extend(run.fleet.panics());
    wrong.extend(run.ledger.oddities.iter().cloned());
    let strays = run.sink.strays();
    wrong.extend(
        (strays > 0)
            .then(|| format!("{strays} requests came to where nobody is, or from where no node sends")),
    );
    let history = run.history(known);
    let mut verdict = check(&history);
    verdict.findings.splice(0..0, wrong);
    Outcome { verdict, log: run.log.clone(), history, drained_in }
}

/// A node that is cut off hears nothing, and sends until its lease ends.
fn heard_within(fleet: &Fleet) -> Moment {
    let lease = if fleet.database().is_some() { LEASE } else { Duration::ZERO };
    HEARD + lease.as_micros() as Moment
}

impl Judged<'_> {
    fn history(&self, records: Vec<Record>) -> History {
        History {
            destinations: self.stage.destinations(),
            posted: self.ledger.entries.iter().map(|entry| entry.posted.clone()).collect(),
            arrivals: self.sink.arrivals(),
            faults: self.log.faults.clone(),
            records,
            heard_within: heard_within(self.fleet),
        }
    }

    /// Waits until nothing is owed or in flight, and nothing has come for a while; gives how long it took, and what is wrong
    /// if it did not.
    fn drain(&self) -> (Duration, Vec<String>) {
        let (began, mut quiet_since, mut arrived) = (Instant::now(), Instant::now(), 0);
        loop {
            let owed =
                self.stage.apis[0].call("GET", "/v1/queue", &json!({})).map(|queue| queue["total"].clone());
            let is_drained = matches!(&owed, Ok(total) if is_nothing(total)) && self.sink.in_flight() == 0;
            let count = self.sink.count();
            if !is_drained || count != arrived {
                (quiet_since, arrived) = (Instant::now(), count);
            }
            if quiet_since.elapsed() > QUIET {
                return (quiet_since - began, Vec::new());
            }
            if began.elapsed() > DRAIN {
                let asked = [
                    "/v1/queue",
                    "/v1/deliveries?status=queued",
                    "/v1/deliveries?status=retry_scheduled",
                    "/v1/cluster",
                ];
                let told = asked
                    .map(|path| format!("{path}: {:?}", self.stage.apis[0].call("GET", path, &json!({}))));
                let owed = format!("{DRAIN:?} after all faults there are still owed: {owed:?}");
                return (began.elapsed(), std::iter::once(owed).chain(told).collect());
            }
            sleep(LOOK);
        }
    }
}

fn is_nothing(total: &serde_json::Value) -> bool {
    total.as_u64() == Some(0) || total["pending"].as_u64() == Some(0)
}
