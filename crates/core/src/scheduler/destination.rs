//! One destination as the scheduler sees it: its lines, what is in flight, and whether it may send now.

use super::window::Window;
use crate::delivery::{Lane, Line, Ticket};
use crate::destination::MaxConcurrency;
use crate::time::Timestamp;

/// What the operator has set for a destination, as far as scheduling goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Attempts in flight at once.
    pub max_concurrency: MaxConcurrency,
    /// A paused destination keeps what it is owed and sends nothing.
    pub paused: bool,
    /// Nothing is sent before this: after an unclean stop an old request may still run at the receiver.
    pub hold_until: Timestamp,
}

/// Of this many sends in a row to a destination that has both waiting, one is a retry.
const RETRY_SHARE: u8 = 4;

#[derive(Debug)]
pub(super) struct Destination {
    pub(super) settings: Settings,
    pub(super) in_flight: u32,
    /// Owed in all, in memory or not, in flight or not.
    pub(super) pending: u64,
    /// Whether it stands in the ring of those that may send.
    pub(super) in_ring: bool,
    pub(super) timer: Option<Timestamp>,
    /// Ordered by line: the most urgent first, fresh before retry.
    windows: Vec<Window>,
    /// Finished while a page was on its way, which may still list them.
    departed: Vec<Ticket>,
    fresh_in_a_row: u8,
}

/// Why a destination sends nothing now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It may send.
    Eligible,
    /// Something is due, but all its concurrency is in use. Woken by an attempt that finishes.
    Full,
    /// Nothing is due before this. Woken by a timer.
    Until(Timestamp),
    /// Nothing waits in memory, or it is paused. Woken by an arrival, a page or the operator.
    Idle,
}

impl Destination {
    pub(super) fn new(settings: Settings) -> Self {
        Destination {
            settings,
            in_flight: 0,
            pending: 0,
            in_ring: false,
            timer: None,
            windows: Vec::new(),
            departed: Vec::new(),
            fresh_in_a_row: 0,
        }
    }

    /// A change of settings never shortens a hold that stands.
    pub(super) fn change(&mut self, settings: Settings) {
        let hold_until = self.settings.hold_until.max(settings.hold_until);
        self.settings = Settings { hold_until, ..settings };
    }

    pub(super) fn standing(&self, now: Timestamp) -> Standing {
        if self.settings.paused {
            return Standing::Idle;
        }
        let Some(first_due) = self.windows.iter().filter_map(Window::first_due).min() else {
            return Standing::Idle;
        };
        let from = first_due.max(self.settings.hold_until);
        if from > now {
            Standing::Until(from)
        } else if self.in_flight >= self.settings.max_concurrency.get() {
            Standing::Full
        } else {
            Standing::Eligible
        }
    }

    /// Takes the next due ticket: the most urgent priority; in it fresh before retry, but every
    /// [`RETRY_SHARE`]th for a retry that waits, so that neither starves the other.
    pub(super) fn take(&mut self, now: Timestamp) -> Option<Ticket> {
        let due = |window: &Window| window.first_due().is_some_and(|first| first <= now);
        let first = self.windows.iter().position(due)?;
        let Line { priority, .. } = self.windows[first].line();
        let retry = Line { priority, lane: Lane::Retry, ..self.windows[first].line() };
        let retry_due = self.windows.iter().position(|window| window.line() == retry && due(window));
        let chosen = match retry_due {
            Some(retry) if self.fresh_in_a_row + 1 >= RETRY_SHARE => retry,
            _ => first,
        };
        let took_fresh = self.windows[chosen].line().lane == Lane::Fresh;
        self.fresh_in_a_row = if took_fresh { (self.fresh_in_a_row + 1).min(RETRY_SHARE) } else { 0 };
        self.windows[chosen].take_due(now)
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

    pub(super) fn windows_mut(&mut self) -> impl Iterator<Item = &mut Window> {
        self.windows.iter_mut()
    }

    /// Tickets in memory.
    pub(super) fn waiting(&self) -> usize {
        self.windows.iter().map(Window::len).sum()
    }

    pub(super) fn depart(&mut self, ticket: Ticket) {
        if self.windows.iter().any(Window::is_loading) {
            self.departed.push(ticket);
        }
    }

    pub(super) fn has_departed(&self, row: &Ticket) -> bool {
        self.departed.contains(row)
    }

    /// Once no page is on its way, nobody can list the departed any more.
    pub(super) fn forget_departed(&mut self) {
        if !self.windows.iter().any(Window::is_loading) {
            self.departed.clear();
        }
    }
}
