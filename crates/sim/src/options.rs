//! What a world is like, apart from its seed.

use std::time::Duration;

/// How to simulate.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long producers, operators and faults go on; what is owed after that must drain.
    pub length: Duration,
    /// Whether the scheduler may hear of an accepted event later than a page that was read after it was committed.
    pub late_news: bool,
    /// Keep a line for everything that happens.
    pub trace: bool,
    /// A bug to plant between scheduler and store, to see that the checkers find it.
    pub bug: Option<Bug>,
}

impl Default for Options {
    fn default() -> Self {
        Options { length: Duration::from_secs(2 * 24 * 3600), late_news: true, trace: false, bug: None }
    }
}

/// Mistakes that a gateway could make between scheduler and store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Says that an event is accepted although its commit failed.
    AcceptedUncommitted,
    /// Does not tell the scheduler of an accepted event.
    OwedDropped,
    /// Tells the scheduler that an attempt is recorded although it is not.
    FinishedUncommitted,
    /// Tells the scheduler that a delivery is done although it is due again.
    RetryLost,
    /// Tells the scheduler that a delivery is due again at once.
    RetryEarly,
    /// Answers a page again, some time later.
    PageTwice,
    /// Never answers a page.
    PageLost,
    /// Does not tell the scheduler of changed concurrency.
    ConcurrencyIgnored,
    /// Does not tell the scheduler that a destination is paused.
    PauseIgnored,
    /// Leaves out a line of the store at the start.
    LineForgotten,
    /// Sends at once after a crash, while old requests may still run at a receiver that takes one at a time.
    HoldForgotten,
    /// Claims an orderly stop while such a hold stands, so that the next life does not hold.
    ClosedWhileHeld,
    /// Keeps sending when told to stop.
    DrainIgnored,
    /// Lets a second probe pass while the first is under way.
    SecondProbe,
    /// Does not restore the circuits that the last run left open.
    CircuitForgotten,
    /// Does not keep a circuit that moved for the next run.
    CircuitUnkept,
    /// Drops an operator's word about a circuit.
    CircuitOrderIgnored,
    /// Takes a delivery that is due again out of its ordered line, and puts it back when it is due.
    OrderBrokenByRetry,
    /// Goes on with an ordered line although a dead letter blocks it.
    BlockedGoesOn,
    /// Does not tell the scheduler that a line waits for its dead letter no longer.
    UnblockForgotten,
    /// Does not tell the scheduler of a dead letter that is owed again.
    ReplayForgotten,
    /// Does not tell the scheduler in which order a destination wants its events.
    OrderForgotten,
    /// Never answers a page of keys.
    KeysLost,
    /// Does not tell the scheduler of a rate limit.
    RateIgnored,
    /// Does not tell the scheduler of an account's cap.
    CapIgnored,
    /// Does not tell the scheduler of other slots and floors.
    LimitsIgnored,
    /// Makes the scheduler without floors.
    FloorIgnored,
    /// Does not tell the scheduler that a receiver asked to be left alone.
    RetryAfterIgnored,
    /// Does not tell the scheduler that a receiver said that it is overwhelmed.
    PushbackIgnored,
    /// Tells the scheduler of failures where there were successes.
    SuccessUnheard,
    /// Makes the scheduler with floors for nobody but bulk where several slots are kept.
    NothingKept,
    /// Makes the scheduler with greater floors than it has, so that it keeps too many slots.
    TooMuchKept,
    /// Sends a retry or replay although they have all of their destination's concurrency that they may have.
    LateShareTaken,
    /// Has an account leave slots to others although there are none.
    AloneCapped,
}

impl Bug {
    /// All of them.
    pub const ALL: [Bug; 34] = [
        Bug::AcceptedUncommitted,
        Bug::OwedDropped,
        Bug::FinishedUncommitted,
        Bug::RetryLost,
        Bug::RetryEarly,
        Bug::PageTwice,
        Bug::PageLost,
        Bug::ConcurrencyIgnored,
        Bug::PauseIgnored,
        Bug::LineForgotten,
        Bug::HoldForgotten,
        Bug::ClosedWhileHeld,
        Bug::DrainIgnored,
        Bug::SecondProbe,
        Bug::CircuitForgotten,
        Bug::CircuitUnkept,
        Bug::CircuitOrderIgnored,
        Bug::OrderBrokenByRetry,
        Bug::BlockedGoesOn,
        Bug::UnblockForgotten,
        Bug::ReplayForgotten,
        Bug::OrderForgotten,
        Bug::KeysLost,
        Bug::RateIgnored,
        Bug::CapIgnored,
        Bug::LimitsIgnored,
        Bug::FloorIgnored,
        Bug::RetryAfterIgnored,
        Bug::PushbackIgnored,
        Bug::SuccessUnheard,
        Bug::NothingKept,
        Bug::TooMuchKept,
        Bug::LateShareTaken,
        Bug::AloneCapped,
    ];
}
