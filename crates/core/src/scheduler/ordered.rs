//! The lane of an ordered destination: each key is a line of its own with at most one attempt at a time.
//!
//! Only so many keys are in memory, those that are due first. The rest is found by a [`Scan`]. A key that is here has all of
//! its rows here or behind its own window.

use super::scan::Scan;
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

    /// When the first head of a priority is due, and the length of its body.
    pub(super) fn first(&self, priority: Priority) -> Option<(Timestamp, u32)> {
        let (due, key) = self.ready[priority.index()].first()?;
        let bytes = self.keys.get(key).and_then(|line| line.window.first_bytes());
        Some((*due, bytes.expect("a key with a head has a first")))
    }

    /// The heads that wait and are not given up on.
    pub(super) fn heads(&self) -> impl Iterator<Item = (Priority, Oldest, Timestamp)> + '_ {
        self.keys.values().filter_map(|line| {
            let (priority, due) = line.ready_at?;
            Some((priority, line.window.oldest()?, due))
        })
    }

    /// When keys are looked for again, if that waits for nothing but time.
    pub(super) fn next_pass(&self) -> Option<Timestamp> {
        self.scan.next_pass()
    }

    /// The store holds keys that we have not seen.
    pub(super) fn stored_keys(&mut self) {
        self.scan.leave_some();
    }

    /// The store holds some of a key that we have not seen.
    pub(super) fn stored(&mut self, key: OrderKey, room: Room) {
        if self.takes(key, room) {
            self.change(key, |line| line.window.mark_beyond());
        }
    }

    /// A delivery was committed, or is due again.
    pub(super) fn arrive(&mut self, key: OrderKey, ticket: &Ticket, room: Room) {
        if self.scan.is_beyond() && !self.keys.contains_key(&key) {
            // The store may hold some of its key that goes before it.
            self.stored(key, room);
        } else if self.takes(key, room) {
            self.change(key, |line| line.window.arrive(ticket, room.tickets));
        }
    }

    /// Whether a key has a line here. Without room for one it is left to the store.
    fn takes(&mut self, key: OrderKey, room: Room) -> bool {
        if self.blocked.contains(&key) {
            return false;
        }
        if !self.keys.contains_key(&key) {
            if self.keys.len() >= room.keys {
                self.scan.leave(key);
                return false;
            }
            self.insert_key(key);
        }
        true
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
        } else if self.change(key, KeyLine::overtake).is_some() {
            // Its line goes on by what the store has of it.
        } else if self.scan.is_asked() {
            self.scan.leave(key);
        }
    }

    /// Nothing is blocked any more.
    pub(super) fn unblock_all(&mut self) {
        let keys: Vec<OrderKey> = self.keys.keys().copied().collect();
        for key in keys {
            self.change(key, KeyLine::overtake);
        }
        self.scan.unblocked_all();
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

    /// Rows of several keys, as asked by a scan, as far as they were not known. The store has looked up to the key `reached`,
    /// of which there may be more; `None` when that was the last.
    pub(super) fn keys_page(
        &mut self,
        tickets: &[Ticket],
        reached: Option<OrderKey>,
        now: Timestamp,
        room: Room,
    ) {
        let Some(missed) = self.scan.page_came() else { return };
        let mut rest = tickets;
        while let Some(key) = rest.first().and_then(Ticket::order_key) {
            let count = rest.iter().take_while(|ticket| ticket.order_key() == Some(key)).count();
            let (of_key, further) = rest.split_at(count);
            rest = further;
            // What was missed may belong before all of these: the key is read anew.
            let known = if missed.contains(&key) { &[] } else { of_key };
            self.find_key(key, known, reached != Some(key) && !missed.contains(&key), room);
        }
        if let Some(key) = reached {
            // All of its rows in the page may have been known.
            self.find_key(key, &[], false, room);
        }
        self.scan.passed(reached, now);
    }

    pub(super) fn keys_page_failed(&mut self) {
        self.scan.page_failed();
    }

    /// A key that the store has. `whole` when these are all of its rows.
    fn find_key(&mut self, key: OrderKey, tickets: &[Ticket], whole: bool, room: Room) {
        if self.keys.contains_key(&key) || self.blocked.contains(&key) {
            return;
        }
        if self.keys.len() >= room.keys {
            return self.scan.leave_some();
        }
        self.insert_key(key);
        self.change(key, |line| line.window.page(tickets.iter().copied(), whole, room.tickets));
    }

    /// Asks the store for what is missing. Gives how many tickets were left to it to make room.
    pub(super) fn ask(&mut self, now: Timestamp, room: Room, actions: &mut Vec<Action>) -> usize {
        let left = self.make_room(now, room);
        while let Some(key) = self.low.pop_first() {
            let Some(line) = self.keys.get_mut(&key) else { continue };
            if line.window.wants_page(room.tickets) {
                line.window.page_asked();
                // What is held or in flight is still in the store and comes first in the page.
                let limit = line.window.len() + 1 + room.tickets;
                actions.push(Action::Load { line: line.window.line(), limit });
            }
        }
        if self.scan.wants_page(now) && self.keys.len() + KEYS_PAGE <= room.keys {
            let (destination, after) = (self.destination, self.scan.page_asked(now));
            actions.push(Action::LoadKeys { destination, after, limit: KEYS_PAGE });
        }
        left
    }

    /// Leaves keys to the store whose heads are not due, the latest first, so that there is room for a page of others. What
    /// is in flight, or has a page on its way, stays.
    fn make_room(&mut self, now: Timestamp, room: Room) -> usize {
        let before = self.held;
        while self.keys.len() + KEYS_PAGE > room.keys {
            let Some((priority, due, key)) = self.latest(now) else { break };
            self.ready[priority.index()].remove(&(due, key));
            self.held -= self.keys.remove(&key).map_or(0, |line| line.window.len());
            self.scan.leave_until(due, key);
        }
        before - self.held
    }

    /// Of the keys that can be left to the store the one that is due last, as far as a short look tells.
    fn latest(&self, now: Timestamp) -> Option<(Priority, Timestamp, OrderKey)> {
        let of_priority = |priority: Priority| {
            let later = self.ready[priority.index()].iter().rev().take_while(|(due, _)| *due > now);
            let can_go = |key: &OrderKey| self.keys.get(key).is_some_and(|line| !line.window.is_loading());
            let (due, key) = later.take(KEYS_PAGE).find(|(_, key)| can_go(key))?;
            Some((priority, *due, *key))
        };
        Priority::ALL.into_iter().filter_map(of_priority).max_by_key(|(_, due, _)| *due)
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
    /// It is unblocked before it was seen to be blocked: by what is in flight, by a page on its way, or by what stands behind
    /// older ones that were put back.
    fn overtake(&mut self) {
        self.unblocked = self.busy;
        self.window.leave_blocked();
        if self.window.is_loading() {
            self.window.read_anew();
        }
    }

    fn new(line: Line) -> Self {
        KeyLine { window: Window::new(line), busy: false, unblocked: false, ready_at: None }
    }
}
