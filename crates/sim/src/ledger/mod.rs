//! The checker: knows what was accepted, what was sent and what was answered, and decides from that alone what
//! may be sent now, what must be sent now, and what the store must hold.

mod audit;
mod limits;

use crate::breach::Breach;
use limits::Limits;
use postrider_core::delivery::{Priority, Ticket};
use postrider_core::id::{AttemptId, DeliveryId, DestinationId};
use postrider_core::outcome::Next;
use postrider_core::time::Timestamp;
use postrider_store::NewEvent;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(crate) struct Ledger {
    slots: usize,
    entries: BTreeMap<DeliveryId, Entry>,
    destinations: BTreeMap<DestinationId, Limits>,
    /// Sent, and its slot not given back.
    in_flight: BTreeMap<DeliveryId, Flight>,
    /// In flight when the gateway died: what became of them is only seen in the store.
    unsure: BTreeMap<DeliveryId, Option<Next>>,
    /// Requests of dead runs that the receiver still works on.
    orphans: BTreeMap<AttemptId, DestinationId>,
    owed: BTreeMap<DestinationId, BTreeSet<(Timestamp, DeliveryId)>>,
    bands: BTreeSet<(DestinationId, Priority)>,
    stopping: bool,
    repeated: u64,
}

/// A delivery as it must be sent next, and where it stands.
#[derive(Debug)]
struct Entry {
    ticket: Ticket,
    stand: Stand,
    /// It was in flight at a crash, so that the next attempt may repeat one that the receiver has seen.
    excused: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    Owed,
    InFlight,
    Delivered,
    Dead,
    /// Its destination was deleted.
    Doomed,
}

#[derive(Debug)]
struct Flight {
    destination: DestinationId,
    attempt: AttemptId,
    answered: Option<Next>,
}

impl Ledger {
    pub(crate) fn new(slots: u32) -> Self {
        Ledger {
            slots: slots as usize,
            entries: BTreeMap::new(),
            destinations: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            unsure: BTreeMap::new(),
            orphans: BTreeMap::new(),
            owed: BTreeMap::new(),
            bands: BTreeSet::new(),
            stopping: false,
            repeated: 0,
        }
    }

    /// The producer has its 202.
    pub(crate) fn accepted(&mut self, event: &NewEvent) {
        for ticket in event.tickets() {
            let deleted = self.is_deleted(ticket.line.destination);
            let stand = if deleted { Stand::Doomed } else { Stand::Owed };
            self.entries.insert(ticket.delivery, Entry { ticket, stand, excused: false });
            self.bands.insert((ticket.line.destination, ticket.line.priority));
            if !deleted {
                self.owe(ticket);
            }
        }
    }

    /// A request went out.
    pub(crate) fn sent(&mut self, now: Timestamp, sent: &Ticket, attempt: AttemptId) -> Result<(), Breach> {
        self.check_limits(sent)?;
        let entry = self.entries.get_mut(&sent.delivery).ok_or(Breach::Phantom(sent.delivery))?;
        match entry.stand {
            Stand::Owed => {}
            Stand::InFlight => return Err(Breach::TwiceAtOnce(sent.delivery)),
            Stand::Delivered | Stand::Dead => return Err(Breach::Repeated(sent.delivery)),
            Stand::Doomed => return Err(Breach::SentToDeleted(sent.line.destination)),
        }
        if now < entry.ticket.due {
            return Err(Breach::Early { delivery: sent.delivery, due: entry.ticket.due });
        }
        if *sent != entry.ticket {
            return Err(Breach::WrongTicket { sent: *sent, expected: entry.ticket });
        }
        entry.stand = Stand::InFlight;
        self.repeated += u64::from(std::mem::take(&mut entry.excused));
        let destination = sent.line.destination;
        self.owed.entry(destination).or_default().remove(&sent.place());
        self.in_flight.insert(sent.delivery, Flight { destination, attempt, answered: None });
        Ok(())
    }

    /// The receiver is done with a request, and this follows.
    pub(crate) fn answered(&mut self, delivery: DeliveryId, next: Next) {
        let flight = self.in_flight.get_mut(&delivery).expect("what is answered was sent");
        flight.answered = Some(next);
    }

    /// The gateway gives the slot back, so what followed must be on disk.
    pub(crate) fn released(&mut self, delivery: DeliveryId) -> DestinationId {
        let flight = self.in_flight.remove(&delivery).expect("what gives its slot back had one");
        let next = flight.answered.expect("what gives its slot back was answered");
        self.settle(delivery, next);
        flight.destination
    }

    fn settle(&mut self, delivery: DeliveryId, next: Next) {
        let entry = self.entries.get_mut(&delivery).expect("what was sent was accepted");
        if entry.stand == Stand::Doomed {
            return;
        }
        match next {
            Next::Delivered => entry.stand = Stand::Delivered,
            Next::Dead(_) => entry.stand = Stand::Dead,
            Next::Retry { due } => {
                entry.ticket = retried(&entry.ticket, due);
                entry.stand = Stand::Owed;
                let ticket = entry.ticket;
                self.owe(ticket);
            }
        }
    }

    fn owe(&mut self, ticket: Ticket) {
        self.owed.entry(ticket.line.destination).or_default().insert(ticket.place());
    }

    /// The gateway was told to stop.
    pub(crate) fn stopping(&mut self) {
        self.stopping = true;
    }

    /// The gateway died. What it had in flight goes on at the receivers, unless it was answered already.
    pub(crate) fn crashed(&mut self) {
        for (delivery, flight) in std::mem::take(&mut self.in_flight) {
            if flight.answered.is_none() {
                self.orphans.insert(flight.attempt, flight.destination);
            }
            if self.entries[&delivery].stand == Stand::InFlight {
                self.unsure.insert(delivery, flight.answered);
            }
        }
    }

    /// A receiver is done with a request of a dead run.
    pub(crate) fn orphan_ended(&mut self, attempt: AttemptId) {
        self.orphans.remove(&attempt);
    }

    /// Requests in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Deliveries owed, those in flight not included.
    pub(crate) fn owed(&self) -> usize {
        self.owed.values().map(BTreeSet::len).sum()
    }

    /// Attempts that repeated one hidden by a crash.
    pub(crate) fn repeated(&self) -> u64 {
        self.repeated
    }

    /// How many lines were ever in use: a fresh and a retry lane for each destination and priority.
    pub(crate) fn lines(&self) -> usize {
        2 * self.bands.len()
    }
}

/// A ticket after a failed attempt.
fn retried(ticket: &Ticket, due: Timestamp) -> Ticket {
    ticket.due_again(due)
}
