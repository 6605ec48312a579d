//! The lane of an ordered destination: each key is a line of its own with at most one attempt at a time.
//!
//! Only so many keys are in memory. The rest is found by going through the store's keys in their order, again and
//! again while something was left to it. A key that is here has all of its rows here or behind its own window.

use super::window::Window;
use super::{Action, Oldest};
use crate::delivery::{Line, OrderKey, Priority, Ticket};
use crate::id::DestinationId;
use crate::limits::KEYS_PAGE;
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// How much of an ordered lane may be in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) keys: usize,
    /// Of each key.
    pub(super) tickets: usize,
}

#[derive(Debug)]
pub(super) struct Ordered {
    destination: DestinationId,
    keys: BTreeMap<OrderKey, KeyLine>,
    /// Heads before which nothing of their key is in flight, by the head's priority and when it is due.
    ready: [BTreeSet<(Timestamp, OrderKey)>; Priority::COUNT],
    /// Keys whose head was given up on and blocks the rest: about 12 bytes for each, which nothing bounds but the
    /// number of dead letters.
    blocked: BTreeSet<OrderKey>,
    /// Keys whose window may want a page.
    low: BTreeSet<OrderKey>,
    /// Tickets in memory.
    held: usize,
    scan: Scan,
}

#[derive(Debug)]
struct KeyLine {
    window: Window,
    busy: bool,
    /// What is in flight was given up on and taken out of the way before its end was heard of.
    unblocked: bool,
    /// Where its head stands in `ready`.
    ready_at: Option<(Priority, Timestamp)>,
}

/// Going through the store's keys.
#[derive(Debug, Default)]
struct Scan {
    /// The store may hold keys that are not here.
    beyond: bool,
    asked: bool,
    /// The last key that was looked at.
    after: Option<OrderKey>,
    /// Since the scan began at the first key, something was left to the store.
    left_out: bool,
    /// All lines were unblocked while a page was on its way.
    stale: bool,
    /// Keys of which something was left to the store while a page was on its way.
    missed: BTreeSet<OrderKey>,
}

impl Ordered {
    pub(super) fn new(destination: DestinationId) -> Self {
        Ordered {
            destination,
            keys: BTreeMap::new(),
            ready: Default::default(),
            blocked: BTreeSet::new(),
            low: BTreeSet::new(),
            held: 0,
            scan: Scan::default(),
        }
    }

    /// Tickets in memory.
    pub(super) fn waiting(&self) -> usize {
        self.held
    }

    pub(super) fn blocked_keys(&self) -> usize {
        self.blocked.len()
    }

    /// When the first head of a priority is due.
    pub(super) fn first_due(&self, priority: Priority) -> Option<Timestamp> {
        self.ready[priority.index()].first().map(|(due, _)| *due)
    }

    /// The heads that wait and are not given up on.
    pub(super) fn heads(&self) -> impl Iterator<Item = (Priority, Oldest, Timestamp)> + '_ {
        self.keys.values().filter_map(|line| {
            let (priority, due) = line.ready_at?;
            Some((priority, line.window.oldest()?, due))
        })
    }

    /// The store holds keys that we have not seen.
    pub(super) fn stored_keys(&mut self) {
        self.scan.beyond = true;
        // A scan that has begun may have passed them.
        self.scan.left_out |= self.scan.asked || self.scan.after.is_some();
    }

    /// The store holds some of a key that we have not seen.
    pub(super) fn stored(&mut self, key: OrderKey, room: Room) {
        if self.blocked.contains(&key) {
            return;
        }
        if !self.keys.contains_key(&key) {
            if self.keys.len() >= room.keys {
                return self.leave_to_store(key);
            }
            self.insert_key(key);
        }
        self.change(key, |line| line.window.mark_beyond());
    }

    /// A delivery was committed, or is due again.
    pub(super) fn arrive(&mut self, key: OrderKey, ticket: &Ticket, room: Room) {
        if self.blocked.contains(&key) {
            return;
        }
        if !self.keys.contains_key(&key) {
            if self.scan.beyond || self.keys.len() >= room.keys {
                return self.leave_to_store(key);
            }
            self.insert_key(key);
        }
        self.change(key, |line| line.window.arrive(ticket, room.tickets));
    }

    fn leave_to_store(&mut self, key: OrderKey) {
        self.scan.beyond = true;
        self.scan.left_out = true;
        if self.scan.asked {
            self.scan.missed.insert(key);
        }
    }

    /// Takes the first due head of a priority.
    pub(super) fn take(&mut self, priority: Priority, now: Timestamp) -> Option<Ticket> {
        let (_, key) = *self.ready[priority.index()].first().filter(|(due, _)| *due <= now)?;
        self.change(key, |line| {
            line.busy = true;
            line.window.take_due(now)
        })?
    }

    /// An attempt of a key ended.
    pub(super) fn ended(&mut self, key: OrderKey) {
        self.change(key, |line| {
            line.busy = false;
            line.unblocked = false;
        });
    }

    /// The head of a key was given up on and blocks the rest.
    pub(super) fn block(&mut self, key: OrderKey) {
        let unblocked = self.keys.get_mut(&key).is_some_and(|line| std::mem::take(&mut line.unblocked));
        if unblocked {
            // Look what the store has of it: it may be blocked by now all the same.
            self.change(key, |line| {
                line.busy = false;
                line.window.clear();
                line.window.read_anew();
            });
            return;
        }
        self.blocked.insert(key);
        self.change(key, |line| {
            line.busy = false;
            line.window.clear();
        });
    }

    /// What blocked a key is no longer in its way: look what the store has of it.
    pub(super) fn unblock(&mut self, key: OrderKey) {
        if self.blocked.remove(&key) {
            self.insert_key(key);
            self.change(key, |line| line.window.read_anew());
        } else if let Some(line) = self.keys.get_mut(&key) {
            line.overtake();
        } else if self.scan.asked {
            self.leave_to_store(key);
        }
    }

    /// Nothing is blocked any more.
    pub(super) fn unblock_all(&mut self) {
        self.keys.values_mut().for_each(KeyLine::overtake);
        self.scan.stale = self.scan.asked;
        if !std::mem::take(&mut self.blocked).is_empty() {
            // They may be more than there is room for: a scan finds them.
            self.stored_keys();
        }
    }

    /// The first rows of one key.
    pub(super) fn page(&mut self, key: OrderKey, tickets: Vec<Ticket>, end: bool, room: Room) {
        self.change(key, |line| line.window.page(tickets.into_iter(), end, room.tickets));
    }

    pub(super) fn page_failed(&mut self, key: OrderKey) {
        self.change(key, |line| line.window.page_failed());
    }

    /// Rows of several keys, as asked by a scan.
    pub(super) fn keys_page(&mut self, tickets: &[Ticket], end: bool, room: Room) {
        self.scan.asked = false;
        let missed = std::mem::take(&mut self.scan.missed);
        if std::mem::take(&mut self.scan.stale) {
            // It may show heads that are gone: it is asked for again.
            self.scan.left_out |= !missed.is_empty();
            return;
        }
        let mut rest = tickets;
        while let Some(key) = rest.first().and_then(Ticket::order_key) {
            let count = rest.iter().take_while(|ticket| ticket.order_key() == Some(key)).count();
            let (of_key, further) = rest.split_at(count);
            rest = further;
            let cut = rest.is_empty() && !end;
            // What was missed may belong before all of these: the key is read anew.
            let known = if missed.contains(&key) { &[] } else { of_key };
            self.find_key(key, known, !cut && !missed.contains(&key), room);
            self.scan.after = Some(key);
        }
        if end {
            self.scan.after = None;
            self.scan.beyond = std::mem::take(&mut self.scan.left_out);
        }
    }

    pub(super) fn keys_page_failed(&mut self) {
        self.scan.asked = false;
        self.scan.stale = false;
        self.scan.missed.clear();
    }

    /// A key that the store has. `whole` when these are all of its rows.
    fn find_key(&mut self, key: OrderKey, tickets: &[Ticket], whole: bool, room: Room) {
        if self.keys.contains_key(&key) || self.blocked.contains(&key) {
            return;
        }
        if self.keys.len() >= room.keys {
            self.scan.left_out = true;
            return;
        }
        self.insert_key(key);
        self.change(key, |line| line.window.page(tickets.iter().copied(), whole, room.tickets));
    }

    /// Asks the store for what is missing.
    pub(super) fn ask(&mut self, room: Room, actions: &mut Vec<Action>) {
        while let Some(key) = self.low.pop_first() {
            let Some(line) = self.keys.get_mut(&key) else { continue };
            if line.window.wants_page(room.tickets) {
                line.window.page_asked();
                // What is held or in flight is still in the store and comes first in the page.
                let limit = line.window.len() + 1 + room.tickets;
                actions.push(Action::Load { line: line.window.line(), limit });
            }
        }
        if self.scan.beyond && !self.scan.asked && self.keys.len() + KEYS_PAGE <= room.keys {
            self.scan.asked = true;
            let (destination, after) = (self.destination, self.scan.after);
            actions.push(Action::LoadKeys { destination, after, limit: KEYS_PAGE });
        }
    }

    fn insert_key(&mut self, key: OrderKey) {
        let line = Line::first(self.destination, Priority::Normal, Some(key));
        self.keys.entry(key).or_insert_with(|| KeyLine::new(line));
    }

    /// Changes a key's line and brings all that depends on it in line: its place among the ready, whether its head
    /// blocks it, and whether it need be here at all.
    fn change<T>(&mut self, key: OrderKey, change: impl FnOnce(&mut KeyLine) -> T) -> Option<T> {
        let line = self.keys.get_mut(&key)?;
        let before = line.window.len();
        let changed = change(line);
        if !line.busy && line.window.head().is_some_and(|(_, due)| due == Timestamp::MAX) {
            self.blocked.insert(key);
        }
        if self.blocked.contains(&key) {
            line.window.clear();
        }
        self.held = self.held + line.window.len() - before;
        let head = if line.busy { None } else { line.window.head() };
        if head != line.ready_at {
            if let Some((priority, due)) = line.ready_at {
                self.ready[priority.index()].remove(&(due, key));
            }
            if let Some((priority, due)) = head {
                self.ready[priority.index()].insert((due, key));
            }
            line.ready_at = head;
        }
        let gone = line.window.is_spent() || (self.blocked.contains(&key) && !line.window.is_loading());
        if gone && !line.busy {
            self.keys.remove(&key);
        } else if !self.blocked.contains(&key) {
            self.low.insert(key);
        }
        Some(changed)
    }
}

impl KeyLine {
    /// It is unblocked before it was seen to be blocked: by what is in flight, or by a page on its way.
    fn overtake(&mut self) {
        self.unblocked = self.busy;
        if self.window.is_loading() {
            self.window.read_anew();
        }
    }

    fn new(line: Line) -> Self {
        KeyLine { window: Window::new(line), busy: false, unblocked: false, ready_at: None }
    }
}
