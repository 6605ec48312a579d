//! The bytes of attempts in flight: how many a node, an account and a destination may have, and who is woken when some
//! are released.
//!
//! A scope is open while it has fewer bytes in flight than its budget, whatever the next body weighs: so it goes past its
//! budget by one body at most, any body is sent in the end, and a large one never starves behind smaller ones. Bodies of
//! at most [`LIGHT_BODY_BYTES_MAX`] neither count nor wait: the slots bound them.
//!
//! The body of an event is in memory once, however many of its deliveries are in flight. What each attempt has by itself
//! is what it has written and its receiver has not taken.

use super::destination::{Destination, Standing};
use super::{Action, Scheduler};
use crate::delivery::Ticket;
use crate::id::{AccountId, DestinationId, EventId};
use crate::limits::{
    IN_FLIGHT_BYTES_DEFAULT, IN_FLIGHT_BYTES_PER_ACCOUNT_DEFAULT, IN_FLIGHT_BYTES_PER_DESTINATION_DEFAULT,
    LIGHT_BODY_BYTES_MAX, WRITE_BUFFERS_BYTES_MAX,
};
use crate::map::IdMap;
use crate::time::Timestamp;
use std::collections::VecDeque;

/// Destinations woken at once.
const WAKES_MAX: usize = 32;

/// Bytes of attempts in flight above which no further large body is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteLimits {
    /// Of this node.
    pub node: u64,
    /// Of one account.
    pub account: u64,
    /// Of one destination.
    pub destination: u64,
}

impl Default for ByteLimits {
    fn default() -> Self {
        ByteLimits {
            node: IN_FLIGHT_BYTES_DEFAULT,
            account: IN_FLIGHT_BYTES_PER_ACCOUNT_DEFAULT,
            destination: IN_FLIGHT_BYTES_PER_DESTINATION_DEFAULT,
        }
    }
}

/// Whether a destination may send large bodies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeavyGate {
    /// They have to wait for bytes in flight.
    is_shut: bool,
    /// It stands among those that wait for bytes.
    is_noted: bool,
    /// It had its turn among them: so many bytes are kept for it until it sends a body of no more, or cannot.
    kept: u64,
}

impl HeavyGate {
    pub(super) fn lets_pass(self, bytes: u32) -> bool {
        !is_heavy(bytes) || if self.kept > 0 { weight(bytes) <= self.kept } else { !self.is_shut }
    }
}

/// Whether a body counts against the budgets.
fn is_heavy(bytes: u32) -> bool {
    bytes as usize > LIGHT_BODY_BYTES_MAX
}

/// What an attempt counts for that shares its body with no other.
fn weight(bytes: u32) -> u64 {
    u64::from(bytes) + buffers(u64::from(bytes))
}

/// What an attempt may have written that its receiver has not taken.
fn buffers(body_bytes: u64) -> u64 {
    body_bytes.min(WRITE_BUFFERS_BYTES_MAX as u64)
}

#[derive(Debug)]
pub(super) struct ByteBudget {
    limits: ByteLimits,
    /// In flight, and kept for those that had their turn.
    bytes: u64,
    accounts: IdMap<AccountId, Used>,
    destinations: IdMap<DestinationId, u64>,
    /// The events whose bodies are in flight.
    bodies: IdMap<EventId, Body>,
    /// Accounts with bytes left of which destinations wait for bytes of the node, in turn.
    ring: VecDeque<AccountId>,
}

/// What an account has in flight, and which of its destinations wait for bytes.
#[derive(Debug, Default)]
struct Used {
    bytes: u64,
    waiting: VecDeque<DestinationId>,
    in_ring: bool,
}

#[derive(Debug)]
struct Body {
    bytes: u64,
    attempts: u32,
}

/// What keeps a destination from sending a large body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shut {
    /// Its own budget, of which it has more when one of its attempts ends.
    Destination,
    /// The budget of its account or of the node. Those that wait for it have what is released before anybody else.
    Others,
}

impl ByteBudget {
    pub(super) fn new(limits: ByteLimits) -> Self {
        ByteBudget {
            limits,
            bytes: 0,
            accounts: IdMap::default(),
            destinations: IdMap::default(),
            bodies: IdMap::default(),
            ring: VecDeque::new(),
        }
    }

    /// Other limits count for the bodies that are sent next; whether they are others.
    pub(super) fn limit(&mut self, limits: ByteLimits) -> bool {
        let changed = std::mem::replace(&mut self.limits, limits) != limits;
        let all: Vec<AccountId> = self.accounts.keys().copied().collect();
        all.into_iter().for_each(|account| self.line_up(account));
        changed
    }

    fn shut(&self, account: AccountId, destination: DestinationId) -> Option<Shut> {
        if self.bytes == 0 {
            return None;
        }
        if self.is_spent(destination) {
            return Some(Shut::Destination);
        }
        let spent = self.accounts.get(&account).is_some_and(|used| used.bytes >= self.limits.account);
        (spent || self.bytes >= self.limits.node).then_some(Shut::Others)
    }

    /// Whether a destination has used up its own budget.
    fn is_spent(&self, destination: DestinationId) -> bool {
        self.destinations.get(&destination).is_some_and(|bytes| *bytes >= self.limits.destination)
    }

    fn wait(&mut self, account: AccountId, destination: DestinationId) {
        self.accounts.entry(account).or_default().waiting.push_back(destination);
        self.line_up(account);
    }

    /// Puts an account among those whose destinations wait for bytes of the node, if it is one of them.
    fn line_up(&mut self, account: AccountId) {
        let Some(used) = self.accounts.get_mut(&account) else { return };
        if used.waiting.is_empty() || used.bytes >= self.limits.account {
            return;
        }
        if !std::mem::replace(&mut used.in_ring, true) {
            self.ring.push_back(account);
        }
    }

    /// The next destination that waits while there are bytes for it: accounts have it in turn.
    fn next_to_wake(&mut self) -> Option<DestinationId> {
        while self.bytes < self.limits.node {
            let account = self.ring.pop_front()?;
            let used = self.accounts.get_mut(&account).expect("an account in the ring is known");
            used.in_ring = false;
            if used.bytes < self.limits.account
                && let Some(destination) = used.waiting.pop_front()
            {
                self.line_up(account);
                return Some(destination);
            }
            self.forget_if_spent(account);
        }
        None
    }

    fn take(&mut self, account: AccountId, bytes: u64) {
        self.bytes += bytes;
        self.accounts.entry(account).or_default().bytes += bytes;
    }

    fn give_back(&mut self, account: AccountId, bytes: u64) {
        self.bytes -= bytes;
        let used = self.accounts.get_mut(&account).expect("an account that has bytes is known");
        used.bytes -= bytes;
        self.line_up(account);
        self.forget_if_spent(account);
    }

    fn forget_if_spent(&mut self, account: AccountId) {
        let is_spent = |used: &Used| used.bytes == 0 && used.waiting.is_empty() && !used.in_ring;
        if self.accounts.get(&account).is_some_and(is_spent) {
            self.accounts.remove(&account);
        }
    }

    fn begin(&mut self, ticket: &Ticket, account: AccountId) {
        let bytes = u64::from(ticket.bytes);
        let body = self.bodies.entry(ticket.event).or_insert(Body { bytes, attempts: 0 });
        body.attempts += 1;
        let shared = if body.attempts == 1 { body.bytes } else { 0 };
        self.take(account, shared + buffers(bytes));
        *self.destinations.entry(ticket.line.destination).or_default() += weight(ticket.bytes);
    }

    fn end(&mut self, ticket: &Ticket, account: AccountId) {
        let (bytes, destination) = (u64::from(ticket.bytes), ticket.line.destination);
        let body = self.bodies.get_mut(&ticket.event).expect("the body of an attempt in flight is counted");
        body.attempts -= 1;
        let mut shared = 0;
        if body.attempts == 0 {
            shared = body.bytes;
            self.bodies.remove(&ticket.event);
        }
        self.give_back(account, shared + buffers(bytes));
        let left = self.destinations.get_mut(&destination).expect("the destination of an attempt is counted");
        *left -= weight(ticket.bytes);
        if *left == 0 {
            self.destinations.remove(&destination);
        }
    }
}

impl Destination {
    /// Something is due that has to wait for bytes in flight.
    pub(super) fn waits_for_bytes(&self, now: Timestamp) -> bool {
        self.heavy.is_shut && self.heavy_due(now, HeavyGate::default()).is_some()
    }

    /// Whether it would send a large body now, were this its gate.
    fn wants_bytes(&self, now: Timestamp, gate: HeavyGate) -> bool {
        self.heavy_due(now, gate).is_some() && self.standing_of(now, gate) == Standing::Eligible
    }

    /// What the greatest of the large bodies that could be next counts for.
    fn heavy_due(&self, now: Timestamp, gate: HeavyGate) -> Option<u64> {
        let heavy = self.heads_by(gate).filter(|head| head.due <= now && is_heavy(head.bytes));
        heavy.map(|head| weight(head.bytes)).max()
    }

    /// What they waited for bytes does not count as waiting for a slot.
    fn set_heavy_gate(&mut self, shut: bool, now: Timestamp) {
        if !shut && self.waits_for_bytes(now) {
            self.unlimited_since = now;
        }
        self.heavy.is_shut = shut;
    }
}

impl Scheduler {
    /// Bytes of bodies in flight, with what waits in write buffers; bodies that the slots bound are not counted.
    pub fn bytes_in_flight(&self) -> u64 {
        self.bytes.bytes
    }

    /// Above which no further large body is sent.
    pub fn byte_limits(&self) -> ByteLimits {
        self.bytes.limits
    }

    /// Looks whether a destination may send large bodies now, and notes it among those that wait for it.
    pub(super) fn look_at_bytes(&mut self, id: DestinationId, now: Timestamp) {
        let Some(destination) = self.destinations.get_mut(&id) else { return };
        let account = destination.settings.account;
        if destination.heavy.kept > 0 {
            if destination.wants_bytes(now, destination.heavy) {
                return;
            }
            // It cannot use its turn.
            self.bytes.give_back(account, std::mem::take(&mut destination.heavy.kept));
        }
        let shut = self.bytes.shut(account, id);
        let waits = shut.is_some() && destination.wants_bytes(now, HeavyGate::default());
        destination.set_heavy_gate(waits, now);
        if waits && shut == Some(Shut::Others) && !std::mem::replace(&mut destination.heavy.is_noted, true) {
            self.bytes.wait(account, id);
        }
    }

    /// Gives some of those that wait for bytes their turn, if there are bytes; whether it did.
    pub(super) fn wake_for_bytes(&mut self, now: Timestamp, actions: &mut Vec<Action>) -> bool {
        for woken in 0..WAKES_MAX {
            let Some(id) = self.bytes.next_to_wake() else { return woken > 0 };
            if let Some(destination) = self.destinations.get_mut(&id) {
                destination.heavy.is_noted = false;
                destination.set_heavy_gate(false, now);
                // It may have sent one since it was noted, when there were bytes before its turn came.
                if !self.bytes.is_spent(id) {
                    destination.heavy.kept =
                        destination.heavy_due(now, HeavyGate::default()).unwrap_or_default();
                    self.bytes.take(destination.settings.account, destination.heavy.kept);
                }
            }
            self.refresh(id, now, actions);
        }
        true
    }

    /// An attempt begins. What was kept for it is no longer.
    pub(super) fn bytes_begin(&mut self, ticket: &Ticket, account: AccountId) {
        if is_heavy(ticket.bytes) {
            self.forget_turn(ticket.line.destination, account);
            self.bytes.begin(ticket, account);
        }
    }

    pub(super) fn bytes_end(&mut self, ticket: &Ticket, account: AccountId) {
        if is_heavy(ticket.bytes) {
            self.bytes.end(ticket, account);
        }
    }

    /// A destination sends a large body, or is gone.
    pub(super) fn forget_turn(&mut self, id: DestinationId, account: AccountId) {
        if let Some(destination) = self.destinations.get_mut(&id)
            && destination.heavy.kept > 0
        {
            self.bytes.give_back(account, std::mem::take(&mut destination.heavy.kept));
        }
    }
}
