//! One destination as the scheduler sees it: its lines, what is in flight, and whether it may send now.

mod attempts;

use super::bands::BandTurns;
use super::breakdown::Breakdown;
use super::byte_budget::HeavyGate;
use super::deferral::Deferral;
use super::departed::Departed;
use super::lanes::{LaneTurns, Rank};
use super::limiter::{Limiter, Sample};
use super::ordered::Ordered;
use super::outage::Outage;
use super::paging::Rooms;
use super::pushback::Pushback;
use super::window::Window;
use super::{Action, Depth, Flight, Settings, Verdict, Why};
use crate::breaker::{Breaker, Circuit, CircuitOrder, CircuitRecord, Gate, Moved};
use crate::delivery::{Line, Priority, Ticket};
use crate::destination::Ordering;
use crate::id::DestinationId;
use crate::rate_gate::RateGate;
use crate::time::Timestamp;
use std::time::Duration;

/// A quarter of a destination's concurrency is out of reach of retries and replays, so that a storm of them does not
/// keep fresh events waiting.
const KEPT_FOR_FRESH: u32 = 4;
/// With less concurrency nothing is kept: it would be a great share of it.
const KEEPS_FROM_LIMIT: u32 = 8;

#[derive(Debug)]
pub(super) struct Destination {
    pub(super) settings: Settings,
    pub(super) in_flight: u32,
    /// Retries and replays among them.
    late_in_flight: u32,
    /// Owed in all, in memory or not, in flight or not.
    pub(super) pending: Depth,
    /// The same by priority and lane.
    pub(super) by_line: Breakdown,
    /// Times something was due and it had no concurrency left.
    pub(super) slot_denied: u64,
    /// In which bands it stands in the queue of those that may send.
    pub(super) queued: [bool; Priority::COUNT],
    /// Since when it is noted to wait for a slot.
    pub(super) noted_wait: Option<Timestamp>,
    pub(super) timer: Option<Timestamp>,
    /// Ordered by line: the most urgent first, fresh before retry.
    pub(super) windows: Vec<Window>,
    pub(super) ordered: Option<Box<Ordered>>,
    pub(super) departed: Departed,
    /// By band: turns shared over bands could always fall to the same one.
    turns: [LaneTurns; Priority::COUNT],
    pub(super) bands: BandTurns,
    breaker: Breaker,
    pub(super) limiter: Limiter,
    rate: RateGate,
    /// The receiver asked to be left alone until then.
    throttled_until: Timestamp,
    /// It answers that it is overwhelmed, and not until when.
    pushback: Pushback,
    deferral: Deferral,
    /// Since when nothing but limits keeps it from sending: what waited before does not count as waiting. Nor does what waited
    /// before it was known here, since nobody knows for what.
    open_since: Timestamp,
    shut: bool,
    /// Since when its own concurrency and rate do not keep it from sending either.
    pub(super) unlimited_since: Timestamp,
    limited: bool,
    pub(super) heavy: HeavyGate,
    pub(super) outage: Outage,
}

/// Whether a destination may send now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It may.
    Eligible,
    /// Not before this. Woken by a timer.
    Until(Timestamp, Why),
    /// Not before something happens: an arrival, a page, a finished attempt, the operator.
    Idle(Why),
}

/// The first of a line.
#[derive(Clone, Copy)]
pub(super) struct Head {
    lane: HeadLane,
    rank: Rank,
    priority: Priority,
    pub(super) due: Timestamp,
    pub(super) bytes: u32,
}

#[derive(Clone, Copy)]
enum HeadLane {
    Window(usize),
    Ordered,
}

impl Destination {
    pub(super) fn new(settings: Settings, now: Timestamp) -> Self {
        Destination {
            settings,
            in_flight: 0,
            late_in_flight: 0,
            pending: Depth::default(),
            by_line: Breakdown::default(),
            slot_denied: 0,
            queued: [false; Priority::COUNT],
            noted_wait: None,
            timer: None,
            windows: Vec::new(),
            ordered: None,
            departed: Departed::default(),
            turns: Default::default(),
            bands: BandTurns::default(),
            breaker: Breaker::default(),
            limiter: Limiter::new(settings.max_concurrency.get(), settings.adaptive),
            rate: RateGate::default(),
            throttled_until: Timestamp::ZERO,
            pushback: Pushback::default(),
            deferral: Deferral::default(),
            open_since: now,
            shut: false,
            unlimited_since: now,
            limited: false,
            heavy: HeavyGate::default(),
            outage: Outage::default(),
        }
    }

    /// A change of settings never shortens a hold that stands. What was learned of a receiver does not hold for another.
    pub(super) fn change(&mut self, settings: Settings, now: Timestamp) -> Moved {
        let is_other_receiver = self.settings.target != settings.target;
        if let Some(limit) = settings.rate_limit.filter(|limit| self.settings.rate_limit != Some(*limit)) {
            self.rate.change(limit, now);
        }
        let hold_until = self.settings.hold_until.max(settings.hold_until);
        self.settings = Settings { hold_until, ..settings };
        self.limiter.configure(settings.max_concurrency.get(), settings.adaptive);
        if !is_other_receiver {
            return Moved::No;
        }
        self.throttled_until = Timestamp::ZERO;
        self.pushback = Pushback::default();
        self.limiter = Limiter::new(settings.max_concurrency.get(), settings.adaptive);
        self.breaker.retarget()
    }

    pub(super) fn spend_rate(&mut self, now: Timestamp) {
        if let Some(limit) = self.settings.rate_limit {
            self.rate.spend(limit, now);
        }
    }

    /// The circuit is as an earlier run left it.
    pub(super) fn restore(&mut self, record: CircuitRecord, now: Timestamp) {
        self.breaker = Breaker::restore(self.settings.circuit, record, now);
    }

    /// An operator's word about the circuit.
    pub(super) fn order(&mut self, order: CircuitOrder, now: Timestamp) -> Moved {
        if order != CircuitOrder::Open {
            self.throttled_until = Timestamp::ZERO;
            self.pushback = Pushback::default();
        }
        let moved = self.breaker.order(order);
        if moved == Moved::Closed {
            self.limiter.recover(now);
        }
        moved
    }

    pub(super) fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    pub(super) fn limit(&self) -> u32 {
        match self.settings.ordering {
            Ordering::Strict => 1,
            Ordering::None | Ordering::ByKey => self.limiter.current(),
        }
    }

    pub(super) fn standing(&self, now: Timestamp) -> Standing {
        self.standing_of(now, self.heavy)
    }

    pub(super) fn standing_of(&self, now: Timestamp, heavy: HeavyGate) -> Standing {
        if self.settings.paused {
            return Standing::Idle(Why::Paused);
        }
        let Some(first_due) = self.heads_by(heavy).map(|head| head.due).min() else {
            return Standing::Idle(self.why_nothing(now));
        };
        if first_due > now {
            return Standing::Until(first_due, Why::NotDue);
        }
        if let Some(shut) = self.shut(now) {
            return shut;
        }
        if self.in_flight >= self.limit() {
            return Standing::Idle(Why::Full);
        }
        match self.settings.rate_limit.map(|limit| self.rate.open_at(limit)) {
            Some(open_at) if open_at > now => Standing::Until(open_at, Why::Rate),
            _ => Standing::Eligible,
        }
    }

    /// What keeps it from sending for longest that is no matter of limits.
    pub(super) fn shut(&self, now: Timestamp) -> Option<Standing> {
        let circuit = match self.breaker.gate(now) {
            Gate::Shut => return Some(Standing::Idle(Why::Circuit)),
            Gate::Until(at) => at,
            Gate::Pass => Timestamp::ZERO,
        };
        let holds = [
            (circuit, Why::Circuit),
            (self.deferral.until(), Why::NodeResources),
            (self.pushback.until(), Why::Overwhelmed),
            (self.throttled_until, Why::Throttled),
            (self.settings.hold_until, Why::Held),
        ];
        let (at, why) = holds.into_iter().max_by_key(|(at, _)| *at)?;
        (at > now).then_some(Standing::Until(at, why))
    }

    /// Notes whether it is shut, so that a time of being shut does not count as waiting for a slot.
    pub(super) fn note_shut(&mut self, now: Timestamp) {
        let open_circuit = self.breaker.circuit() != Circuit::Closed;
        let shut = self.settings.paused || open_circuit || self.shut(now).is_some();
        if self.shut && !shut {
            self.open_since = now;
        }
        self.shut = shut;
    }

    /// Whether retries and replays have all of the concurrency that they may have.
    fn is_late_full(&self) -> bool {
        let limit = self.limit();
        let kept = if limit >= KEEPS_FROM_LIMIT { limit / KEPT_FOR_FRESH } else { 0 };
        self.late_in_flight > 0 && self.late_in_flight >= limit - kept
    }

    /// The first of each line, as far as its lane has concurrency left and its body may be sent.
    fn heads(&self) -> impl Iterator<Item = Head> + '_ {
        self.heads_by(self.heavy)
    }

    pub(super) fn heads_by(&self, heavy: HeavyGate) -> impl Iterator<Item = Head> + '_ {
        let late_full = self.is_late_full();
        let may_go = move |head: &Head| !late_full || head.rank == Rank::Fresh;
        self.all_heads().filter(may_go).filter(move |head| heavy.lets_pass(head.bytes))
    }

    pub(super) fn all_heads(&self) -> impl Iterator<Item = Head> + '_ {
        let of_window = |(index, window): (usize, &Window)| {
            let Line { priority, lane, .. } = window.line();
            let (due, bytes) = (window.first_due()?, window.first_bytes()?);
            Some(Head { lane: HeadLane::Window(index), rank: Rank::of(lane), priority, due, bytes })
        };
        let of_ordered = |priority: Priority| {
            let (due, bytes) = self.ordered.as_ref()?.first(priority)?;
            Some(Head { lane: HeadLane::Ordered, rank: Rank::Fresh, priority, due, bytes })
        };
        let ordered =
            Priority::ALL.into_iter().take(if self.ordered.is_some() { Priority::COUNT } else { 0 });
        self.windows.iter().enumerate().filter_map(of_window).chain(ordered.filter_map(of_ordered))
    }

    /// The band of a head that is due: its priority, raised for each promotion age that it waited.
    fn band(&self, head: Head, now: Timestamp, promotion_age: Option<Duration>) -> Priority {
        let Some(age) = promotion_age else { return head.priority };
        let waited = now.since(head.due.max(self.open_since));
        if waited < age {
            return head.priority;
        }
        head.priority.raised(u64::try_from(waited.as_millis() / age.as_millis()).unwrap_or(u64::MAX))
    }

    /// The bands in which something is due.
    pub(super) fn due_bands(
        &self,
        now: Timestamp,
        promotion_age: Option<Duration>,
    ) -> [bool; Priority::COUNT] {
        let mut bands = [false; Priority::COUNT];
        for head in self.heads().filter(|head| head.due <= now) {
            bands[self.band(head, now, promotion_age).index()] = true;
        }
        bands
    }

    /// When a further head is due or one that is due gets more urgent.
    pub(super) fn next_change(&self, now: Timestamp, promotion_age: Option<Duration>) -> Option<Timestamp> {
        let change = |head: Head| {
            if head.due > now {
                return Some(head.due);
            }
            let age = promotion_age.filter(|_| head.priority != Priority::Critical)?;
            let since = head.due.max(self.open_since);
            let ages = u32::try_from(now.since(since).as_millis() / age.as_millis()).unwrap_or(u32::MAX);
            Some(since.after(age.saturating_mul(ages.saturating_add(1))))
        };
        self.heads().filter_map(change).min()
    }

    /// Takes the next due ticket of a band, if one is left in it. Gives by how many bands it had been raised.
    pub(super) fn take(
        &mut self,
        band: Priority,
        now: Timestamp,
        promotion_age: Option<Duration>,
    ) -> Option<(Ticket, u8)> {
        let due = || {
            let due = self.heads().filter(|head| head.due <= now);
            due.map(|head| (self.band(head, now, promotion_age), head))
        };
        let of_band = || due().filter(|(of, _)| *of == band).map(|(_, head)| head);
        let mut turns = self.turns[band.index()];
        let rank = turns.choose(|rank| of_band().any(|head| head.rank == rank))?;
        let chosen = of_band().filter(|head| head.rank == rank).min_by_key(|head| head.due)?;
        self.turns[band.index()] = turns;
        let ticket = match chosen.lane {
            HeadLane::Window(index) => self.windows[index].take_due(now)?,
            HeadLane::Ordered => self.ordered.as_mut()?.take(chosen.priority, now)?,
        };
        Some((ticket, ticket.priority.number() - band.number()))
    }

    pub(super) fn window(&mut self, line: Line) -> &mut Window {
        let index = match self.windows.binary_search_by_key(&line, Window::line) {
            Ok(index) => index,
            Err(index) => {
                self.windows.insert(index, Window::new(line));
                index
            }
        };
        &mut self.windows[index]
    }

    pub(super) fn ordered(&mut self, id: DestinationId) -> &mut Ordered {
        self.ordered.get_or_insert_with(|| Box::new(Ordered::new(id)))
    }

    /// Asks the store for what is missing in memory. Gives how many tickets were left to it to make room.
    pub(super) fn ask(&mut self, now: Timestamp, rooms: Rooms, actions: &mut Vec<Action>) -> usize {
        let (in_flight, before) = (self.in_flight as usize, actions.len());
        for window in self.windows.iter_mut().filter(|window| window.wants_page_at(now, rooms.line)) {
            // What is held or in flight is still in the store and comes first in the page.
            let limit = window.len() + in_flight + rooms.line;
            window.page_asked();
            actions.push(Action::Load { line: window.line(), limit });
        }
        let left = self.ordered.as_mut().map_or(0, |ordered| ordered.ask(now, rooms.keys, actions));
        for action in &actions[before..] {
            match action {
                Action::Load { line, .. } => self.departed.page_asked(Some(*line)),
                Action::LoadKeys { .. } => self.departed.page_asked(None),
                Action::Send(_) | Action::Keep(..) => {}
            }
        }
        left
    }

    /// Tickets in memory.
    pub(super) fn waiting(&self) -> usize {
        let ordered = self.ordered.as_ref().map_or(0, |ordered| ordered.waiting());
        self.windows.iter().map(Window::len).sum::<usize>() + ordered
    }

    /// Since when the first of what is due waits for nothing but a slot, if it does.
    pub(super) fn waits_since(&mut self, standing: Standing, now: Timestamp) -> Option<Timestamp> {
        if standing != Standing::Eligible {
            self.limited |=
                matches!(standing, Standing::Idle(Why::Full | Why::Bytes) | Standing::Until(_, Why::Rate));
            return None;
        }
        if std::mem::take(&mut self.limited) {
            self.unlimited_since = now;
        }
        let since = self.open_since.max(self.unlimited_since);
        self.heads().map(|head| head.due.max(since)).min()
    }
}

fn is_late(ticket: &Ticket) -> bool {
    Rank::of(ticket.line.lane) != Rank::Fresh
}
