//! Which attempts may begin after an unclean stop: most at once, some when their start is noted, one that was in flight at
//! several stops only alone, and one that goes on like that not at all.
//!
//! A delivery can kill the process that sends it, each time anew, and nobody is left to count that attempt. So a run that
//! follows an unclean stop notes, before it sends, the starts of what was due at that stop, each until its attempt has
//! ended. What is still noted at the next unclean stop was in flight at it.

use crate::delivery::Ticket;
use crate::id::{DeliveryId, DestinationId};
use crate::map::IdMap;
use crate::time::Timestamp;
use std::collections::VecDeque;

/// After this many consecutive unclean stops that it was in flight at, a delivery is sent alone. One more, and it becomes
/// a dead letter: nothing else can have been the cause.
pub const STOPS_UNTIL_ALONE: u32 = 3;

/// What is to be done with an attempt that the scheduler has given its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Begin it.
    Begin(Ticket),
    /// Note its start durably, with its count of consecutive unclean stops in flight, and begin it then.
    Note(Ticket, u32),
    /// Give the delivery up: it has killed the process once too often.
    GiveUp(Ticket),
}

impl Pass {
    /// Of which delivery.
    pub const fn ticket(&self) -> &Ticket {
        match self {
            Pass::Begin(ticket) | Pass::Note(ticket, _) | Pass::GiveUp(ticket) => ticket,
        }
    }
}

/// The consecutive unclean stops that a delivery was in flight at.
#[derive(Clone, Copy, Debug)]
struct Stops {
    destination: DestinationId,
    count: u32,
}

/// Between the scheduler, which gives slots, and those who send. What it holds keeps its slot.
#[derive(Debug, Default)]
pub struct StartGate {
    /// Of deliveries that have had no attempt end since.
    stops: IdMap<DeliveryId, Stops>,
    /// Starts on their way to the store.
    noting: IdMap<DeliveryId, Ticket>,
    /// Starts that the store has.
    noted: IdMap<DeliveryId, Ticket>,
    /// To be sent alone, one after the other.
    suspects: VecDeque<Ticket>,
    /// What waits while one is sent alone, or is about to be.
    held: VecDeque<Pass>,
    alone: Option<DeliveryId>,
    /// One was sent alone: what was held meanwhile goes before the next.
    is_turn_of_held: bool,
}

impl StartGate {
    /// A delivery was in flight at this many consecutive unclean stops.
    pub fn was_in_flight(&mut self, delivery: DeliveryId, destination: DestinationId, stops: u32) {
        self.stops.insert(delivery, Stops { destination, count: stops });
    }

    /// An attempt has its slot. Starts of what was due until `noted_until` are noted. `None`: it is held.
    pub fn offer(&mut self, ticket: Ticket, noted_until: Timestamp) -> Option<Pass> {
        let stops = self.stops_of(ticket.delivery);
        let pass = match stops {
            _ if stops > STOPS_UNTIL_ALONE => return Some(Pass::GiveUp(ticket)),
            STOPS_UNTIL_ALONE => {
                self.suspects.push_back(ticket);
                return None;
            }
            0 if ticket.due > noted_until => Pass::Begin(ticket),
            _ => Pass::Note(ticket, stops),
        };
        if self.alone.is_none() && self.suspects.is_empty() {
            return Some(self.let_in(pass));
        }
        self.held.push_back(pass);
        None
    }

    /// What may go on now, when so many attempts have their slots, those that are held here among them.
    pub fn advance(&mut self, in_flight: usize) -> Vec<Pass> {
        if self.alone.is_some() {
            return Vec::new();
        }
        let is_turn_of_held = std::mem::take(&mut self.is_turn_of_held);
        if self.suspects.is_empty() || is_turn_of_held {
            let held = std::mem::take(&mut self.held);
            if !held.is_empty() {
                return held.into_iter().map(|pass| self.let_in(pass)).collect();
            }
        }
        if in_flight > self.held.len() + self.suspects.len() {
            return Vec::new();
        }
        let Some(suspect) = self.suspects.pop_front() else { return Vec::new() };
        self.alone = Some(suspect.delivery);
        let stops = self.stops_of(suspect.delivery);
        vec![self.let_in(Pass::Note(suspect, stops))]
    }

    fn let_in(&mut self, pass: Pass) -> Pass {
        if let Pass::Note(ticket, _) = pass {
            self.noting.insert(ticket.delivery, ticket);
        }
        pass
    }

    /// A start is durable: gives the attempt, which may begin, unless it was withdrawn meanwhile.
    pub fn noted(&mut self, delivery: DeliveryId) -> Option<Ticket> {
        let ticket = self.noting.remove(&delivery)?;
        self.noted.insert(delivery, ticket);
        Some(ticket)
    }

    /// Whether the start of a delivery is still to be written.
    pub fn is_noting(&self, delivery: DeliveryId) -> bool {
        self.noting.contains_key(&delivery)
    }

    /// Whether the store has something about the starts of a delivery, to be forgotten with its outcome.
    pub fn is_known(&self, delivery: DeliveryId) -> bool {
        self.noted.contains_key(&delivery) || self.stops.contains_key(&delivery)
    }

    /// The store has forgotten it.
    pub fn forgotten(&mut self, delivery: DeliveryId) {
        self.noted.remove(&delivery);
        self.stops.remove(&delivery);
    }

    /// An attempt is over, and its slot is given back. `Some`: the store still takes it for one in flight.
    pub fn ended(&mut self, delivery: DeliveryId) -> Option<Ticket> {
        self.noting.remove(&delivery);
        if self.alone == Some(delivery) {
            self.alone = None;
            self.is_turn_of_held = true;
        }
        self.noted.remove(&delivery)
    }

    /// Takes out what is held of these destinations and was not begun.
    pub fn withdraw(&mut self, of: impl Fn(DestinationId) -> bool) -> Vec<Ticket> {
        let (mut out, mut kept) = (Vec::new(), VecDeque::new());
        for pass in std::mem::take(&mut self.held) {
            match of(pass.ticket().line.destination) {
                true => out.push(*pass.ticket()),
                false => kept.push_back(pass),
            }
        }
        self.held = kept;
        let (gone, left): (Vec<Ticket>, Vec<Ticket>) =
            std::mem::take(&mut self.suspects).into_iter().partition(|ticket| of(ticket.line.destination));
        self.suspects = left.into();
        out.extend(gone);
        out
    }

    /// These destinations are another's now, with all that is noted of them. Gives what was not begun.
    pub fn lose(&mut self, of: impl Fn(DestinationId) -> bool) -> Vec<Ticket> {
        let mut out = self.withdraw(&of);
        out.extend(self.noting.extract_if(|_, ticket| of(ticket.line.destination)).map(|(_, ticket)| ticket));
        self.noted.retain(|_, ticket| !of(ticket.line.destination));
        self.stops.retain(|_, stops| !of(stops.destination));
        out
    }

    /// The consecutive unclean stops that a delivery was in flight at.
    fn stops_of(&self, delivery: DeliveryId) -> u32 {
        self.stops.get(&delivery).map_or(0, |stops| stops.count)
    }
}

#[cfg(test)]
mod tests;
