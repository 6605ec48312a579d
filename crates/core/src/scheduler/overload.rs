//! Tells a receiver that has too much at once from one that fails as often however little it is sent.
//!
//! Answers of overload (429, 502, 503, 504, timeouts) lower the limit, and each cut is a trial: attempts begun before it and
//! after it are compared. A smaller share after it: less at once helps, and the cut stands. The same share: the cut only
//! costs deliveries, so it is taken back, and the share counts as usual until it grows.
//!
//! Attempts are counted by when they began and judged when all of them have ended. Counted by when they end, those that take
//! long would be missing at first and come in a burst later.

use super::limiter::Sample;
use crate::outcome::Health;
use crate::time::Timestamp;
use std::time::Duration;

/// What follows for the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Advice {
    /// Nothing.
    Stay,
    /// A round went well.
    Grow,
    /// Fewer at once: the limit times this.
    Cut(f64),
    /// Fewer at once did not help: back to this.
    Restore(f64),
}

/// Answers of overload up to this share are strays.
const STRAY_SHARE: f64 = 0.01;
/// The same of the time that attempts take: those that hang are few and long.
const STRAY_TIME: f64 = 0.1;
/// What a cut leaves at least and at most.
const CUT_MIN: f64 = 0.5;
const CUT_MAX: f64 = 0.9;
/// A cut has helped when the share fell to this part of what it was.
const HELPED: f64 = 0.8;
/// Above this share hardly anything is taken: whether less at once helps is only seen further down.
const NOTHING_TAKEN: f64 = 0.7;
/// Answers of overload that a trial should see if the cut does not help.
const TRIAL_EVENTS: f64 = 6.0;
/// With fewer of them a trial says that it helped.
const EVENTS_MIN: u32 = 3;
/// Attempts of a trial of those that are few and hang.
const TRIAL_ATTEMPTS_OF_STRAYS: f64 = 200.0;
/// The longest trial.
const TRIAL_TIME_MAX: Duration = Duration::from_secs(60);
/// What is usual stands for so many times as long as the trial took that showed it, and each time twice as long: a trial
/// may err, and costs half of the limit while it lasts.
const USUAL_FOR: u32 = 20;
const USUAL_MAX: Duration = Duration::from_secs(3600);
/// How far above the usual share is no accident, in standard deviations.
const DEVIATIONS: f64 = 3.0;
/// Attempts that are remembered beside those of two rounds.
const REMEMBERED: u32 = 64;

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    begun: u32,
    ended: u32,
    pushed: u32,
    good: u32,
    pushed_ms: f64,
    busy_ms: f64,
    slowest_push: Duration,
}

/// Attempts that began in one stretch of time.
#[derive(Clone, Copy, Debug)]
struct Cohort {
    /// After this.
    since: Timestamp,
    /// Not after this.
    until: Timestamp,
    tally: Tally,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Watch { history: Tally, last: Cohort, current: Cohort },
    Trial { top: f64, before: Cohort, after: Cohort },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Overload {
    phase: Phase,
    /// What the receiver shows whatever it is sent, until then.
    usual: Tally,
    usual_until: Timestamp,
    /// Trials in a row that showed the same.
    confirmed: u32,
    /// At once, when a round last went well; 0 before one did.
    bore: f64,
    /// When the last good answer came.
    good_at: Timestamp,
}

impl Overload {
    /// Knows nothing; counts what begins after this.
    pub(super) fn new(since: Timestamp) -> Self {
        Overload {
            phase: watch(Cohort::open(since)),
            usual: Tally::default(),
            usual_until: Timestamp::ZERO,
            confirmed: 0,
            bore: 0.0,
            good_at: since,
        }
    }

    /// An attempt begins.
    pub(super) fn begin(&mut self, limit: f64, now: Timestamp) {
        match &mut self.phase {
            Phase::Watch { last, current, .. } => {
                last.begin(now);
                current.begin(now);
                rotate(last, current, limit, now);
            }
            Phase::Trial { before, after, .. } => {
                before.begin(now);
                after.begin(now);
            }
        }
    }

    /// An attempt ended.
    pub(super) fn learn(&mut self, sample: Sample, limit: f64, now: Timestamp) -> Advice {
        let usual = if now < self.usual_until { self.usual } else { Tally::default() };
        if sample.health == Health::Good {
            self.good_at = now;
        }
        // What hung took everything with it: a little less than before is enough, and half would leave much unused.
        let has_collapsed = now.since(self.good_at) * 2 > sample.latency;
        match &mut self.phase {
            Phase::Watch { history, last, current } => {
                let counts = last.end(sample) | current.end(sample);
                let mut all = *history;
                all.add(last.tally);
                all.add(current.tally);
                if counts && sample.is_pushed() && limit >= 2.0 && is_excessive(all, usual) {
                    let before = Cohort { since: last.since, until: now, tally: all };
                    let factor = match sample.health {
                        // Timeouts are heard of too late for their share to tell how much is too much.
                        Health::TimedOut if has_collapsed => below(self.bore, limit),
                        Health::TimedOut => CUT_MIN,
                        _ => factor(all, usual),
                    };
                    return self.cut(limit, before, factor, now);
                }
                let advice = watched(history, last, current, usual, limit, now);
                if advice == Advice::Grow {
                    self.bore = limit;
                }
                advice
            }
            Phase::Trial { top, before, after } => {
                before.end(sample);
                let counts = after.end(sample);
                let enough = f64::from(after.tally.pushed) >= limit.clamp(2.0, TRIAL_EVENTS);
                if counts
                    && sample.is_pushed()
                    && enough
                    && limit >= 2.0
                    && after.tally.share() > NOTHING_TAKEN
                {
                    let (top, before) = (*top, Cohort { until: now.min(after.until), ..*after });
                    return self.cut(top, before, CUT_MIN, now);
                }
                after.close_when(now, limit, before.tally);
                if before.is_over() && after.is_over() {
                    let (top, before, after) = (*top, *before, *after);
                    return self.judge(top, before, after, limit, now);
                }
                Advice::Stay
            }
        }
    }

    fn cut(&mut self, top: f64, before: Cohort, factor: f64, now: Timestamp) -> Advice {
        self.phase = Phase::Trial { top, before, after: Cohort::open(now) };
        Advice::Cut(factor)
    }

    fn judge(&mut self, top: f64, before: Cohort, after: Cohort, limit: f64, now: Timestamp) -> Advice {
        let (was, is) = (before.tally.share(), after.tally.share());
        if after.tally.pushed < EVENTS_MIN || is <= was * HELPED {
            *self = Overload { bore: self.bore, ..Overload::new(now) };
            return Advice::Stay;
        }
        if limit >= 2.0 && (is > NOTHING_TAKEN || after.tally.good == 0) {
            return self.cut(top, after, CUT_MIN, now);
        }
        if after.tally.good == 0 {
            // One at a time is refused: there is nothing left to cut, and nothing that speaks for more.
            self.phase = Phase::Trial { top, before: after, after: Cohort::open(now) };
            return Advice::Stay;
        }
        let stands = now.since(after.since).saturating_mul(USUAL_FOR << self.confirmed.min(8)).min(USUAL_MAX);
        let mut usual = before.tally;
        usual.add(after.tally);
        let confirmed = self.confirmed + 1;
        *self = Overload { usual, usual_until: now.after(stands), confirmed, ..Overload::new(now) };
        Advice::Restore(top)
    }
}

fn watch(current: Cohort) -> Phase {
    Phase::Watch { history: Tally::default(), last: Cohort::empty(current.since), current }
}

/// The next round begins when as many have begun as may run at once, and the round before it has ended.
fn rotate(last: &mut Cohort, current: &mut Cohort, limit: f64, now: Timestamp) {
    if last.tally.begun == 0 && f64::from(current.tally.begun) >= limit.floor() {
        current.until = now;
        (*last, *current) = (*current, Cohort::open(now));
    }
}

/// A round that has ended is remembered; whether it went well.
fn watched(
    history: &mut Tally,
    last: &mut Cohort,
    current: &mut Cohort,
    usual: Tally,
    limit: f64,
    now: Timestamp,
) -> Advice {
    if last.tally.begun == 0 || !last.is_over() {
        rotate(last, current, limit, now);
        return Advice::Stay;
    }
    let round = last.tally;
    if limit < 2.0 && round.pushed == 0 {
        // One at a time is all that there was: the first that goes well ends it.
        *history = Tally::default();
    }
    history.add(round);
    let grows = round.good > 0 && !is_excessive(*history, usual);
    if history.begun > REMEMBERED + 2 * limit as u32 {
        history.halve();
    }
    *last = Cohort::empty(now);
    rotate(last, current, limit, now);
    if grows { Advice::Grow } else { Advice::Stay }
}

/// More of it than strays, or than usual.
fn is_excessive(all: Tally, usual: Tally) -> bool {
    if usual.begun == 0 {
        return all.pushed > 0 && (all.share() > STRAY_SHARE || all.time_share() > STRAY_TIME);
    }
    let (n, of_usual) = (f64::from(all.begun.max(1)), f64::from(usual.begun));
    let pooled = (f64::from(all.pushed) + f64::from(usual.pushed)) / (n + of_usual);
    let deviation = (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / of_usual)).max(0.0).sqrt();
    all.pushed >= EVENTS_MIN && all.share() > usual.share() + DEVIATIONS * deviation
}

/// What a receiver leaves over that serves a fixed number at once.
fn factor(all: Tally, usual: Tally) -> f64 {
    let excess = match usual.begun {
        0 => all.share().max(all.time_share()),
        _ => (all.share() - usual.share()) / (1.0 - usual.share()).max(0.01),
    };
    (1.0 - excess).clamp(CUT_MIN, CUT_MAX)
}

/// A little less than went well.
fn below(bore: f64, limit: f64) -> f64 {
    (bore * CUT_MAX / limit).clamp(CUT_MIN, CUT_MAX)
}

impl Tally {
    fn share(&self) -> f64 {
        f64::from(self.pushed) / f64::from(self.begun.max(1))
    }

    fn time_share(&self) -> f64 {
        if self.busy_ms > 0.0 { self.pushed_ms / self.busy_ms } else { 0.0 }
    }

    fn add(&mut self, other: Tally) {
        self.begun += other.begun;
        self.ended += other.ended;
        self.pushed += other.pushed;
        self.good += other.good;
        self.pushed_ms += other.pushed_ms;
        self.busy_ms += other.busy_ms;
        self.slowest_push = self.slowest_push.max(other.slowest_push);
    }

    /// What was long ago counts less. All of it has ended.
    fn halve(&mut self) {
        (self.begun, self.ended) = (self.begun / 2, self.begun / 2);
        (self.pushed, self.good) = (self.pushed / 2, self.good / 2);
        (self.pushed_ms, self.busy_ms) = (self.pushed_ms / 2.0, self.busy_ms / 2.0);
    }
}

impl Cohort {
    fn open(since: Timestamp) -> Self {
        Cohort { since, until: Timestamp::MAX, tally: Tally::default() }
    }

    fn empty(at: Timestamp) -> Self {
        Cohort { since: at, until: at, tally: Tally::default() }
    }

    fn has(&self, at: Timestamp) -> bool {
        self.since < at && at <= self.until
    }

    fn begin(&mut self, now: Timestamp) {
        self.tally.begun += u32::from(self.has(now));
    }

    /// Counts the end of an attempt that is one of these.
    fn end(&mut self, sample: Sample) -> bool {
        if !self.has(sample.sent_at) || self.tally.ended >= self.tally.begun {
            return false;
        }
        let tally = &mut self.tally;
        if sample.health == Health::Unknown {
            tally.begun -= 1;
            return true;
        }
        let ms = sample.latency.as_secs_f64() * 1000.0;
        tally.ended += 1;
        tally.busy_ms += ms;
        tally.good += u32::from(sample.health == Health::Good);
        if sample.is_pushed() {
            tally.pushed += 1;
            tally.pushed_ms += ms;
            tally.slowest_push = tally.slowest_push.max(sample.latency);
        }
        true
    }

    fn is_over(&self) -> bool {
        self.until < Timestamp::MAX && self.tally.ended >= self.tally.begun
    }

    /// A trial takes enough attempts to see what it is for, over as long as the slowest of them.
    fn close_when(&mut self, now: Timestamp, limit: f64, before: Tally) {
        let share = before.share();
        let needed = if share < STRAY_SHARE { TRIAL_ATTEMPTS_OF_STRAYS } else { TRIAL_EVENTS / share };
        let took = now.since(self.since);
        // A little less, or what hangs would count twice: once at each end.
        let slowest = before.slowest_push * 9 / 10;
        let enough = f64::from(self.tally.begun) >= needed.max(limit) && took >= slowest;
        if self.until == Timestamp::MAX && (enough || took >= TRIAL_TIME_MAX) {
            self.until = now;
        }
    }
}

impl Sample {
    /// An answer of overload.
    fn is_pushed(&self) -> bool {
        matches!(self.health, Health::Throttled | Health::Overloaded | Health::TimedOut)
    }
}
