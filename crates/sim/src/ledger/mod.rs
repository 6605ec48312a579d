//! The checker: knows what was accepted, what was sent and what was answered, and decides from that alone what
//! may be sent now, what must be sent now, and what the store must hold.

mod audit;
mod circuit;
mod evidence;
mod kept;
mod letters;
mod line_up;
mod neighbours;
mod pushback;
mod rate;
mod terms;
mod turns;
mod waiting;

use crate::breach::{Breach, Mismatch};
use line_up::LineUp;
use neighbours::Seen;
use postrider_core::breaker::CircuitRecord;
use postrider_core::delivery::{Lane, Line, OrderKey, Priority, Ticket};
use postrider_core::id::{AccountId, AttemptId, DeliveryId, DestinationId};
use postrider_core::limits::{KEY_WINDOW_MAX, WINDOW_MAX};
use postrider_core::outcome::Next;
use postrider_core::scheduler::{SchedulerOptions, Share, Verdict};
use postrider_core::time::Timestamp;
use postrider_store::NewEvent;
use std::collections::{BTreeMap, BTreeSet};
use terms::Terms;

#[derive(Debug)]
pub(crate) struct Ledger {
    options: SchedulerOptions,
    entries: BTreeMap<DeliveryId, Entry>,
    accounts: BTreeMap<AccountId, Share>,
    seen: BTreeMap<AccountId, Seen>,
    destinations: BTreeMap<DestinationId, Terms>,
    /// Sent, and its slot not given back.
    in_flight: BTreeMap<DeliveryId, Flight>,
    /// Requests of dead runs that the receiver still works on.
    orphans: BTreeMap<AttemptId, (DestinationId, Option<OrderKey>)>,
    owed: BTreeMap<DestinationId, LineUp>,
    /// Lines that were ever in use.
    lines: BTreeSet<Line>,
    /// Circuits that moved in this step and must be kept for the next run.
    moved: Vec<DestinationId>,
    /// What the store has of circuits.
    kept: BTreeMap<DestinationId, CircuitRecord>,
    /// Sent in this step.
    sent_now: Vec<Ticket>,
    /// Sends since the last of each priority.
    passed: [usize; Priority::COUNT],
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
    /// Times an operator made it owed again.
    revivals: usize,
    discarded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    Owed,
    InFlight,
    Delivered,
    Dead,
    /// Dead, and its ordered line waits for it.
    Blocks,
    /// Its destination was deleted.
    Doomed,
}

#[derive(Debug)]
struct Flight {
    ticket: Ticket,
    account: AccountId,
    attempt: AttemptId,
    sent_at: Timestamp,
    answered: Option<Answered>,
    committed: bool,
}

/// What a receiver said, and what follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered {
    pub(crate) next: Next,
    /// If it is dead, its ordered line waits for it.
    pub(crate) blocks_line: bool,
    pub(crate) verdict: Verdict,
}

impl Ledger {
    pub(crate) fn new(options: SchedulerOptions) -> Self {
        Ledger {
            options,
            entries: BTreeMap::new(),
            accounts: BTreeMap::new(),
            seen: BTreeMap::new(),
            destinations: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            orphans: BTreeMap::new(),
            owed: BTreeMap::new(),
            lines: BTreeSet::new(),
            moved: Vec::new(),
            kept: BTreeMap::new(),
            sent_now: Vec::new(),
            passed: [0; Priority::COUNT],
            stopping: false,
            repeated: 0,
        }
    }

    /// The producer has its 202.
    pub(crate) fn accepted(&mut self, event: &NewEvent) {
        for ticket in event.tickets() {
            let deleted = self.is_deleted(ticket.line.destination);
            let stand = if deleted { Stand::Doomed } else { Stand::Owed };
            let entry = Entry { ticket, stand, excused: false, revivals: 0, discarded: false };
            self.entries.insert(ticket.delivery, entry);
            if !deleted {
                self.owe(ticket);
            }
        }
    }

    /// A request went out.
    pub(crate) fn sent(&mut self, now: Timestamp, sent: &Ticket, attempt: AttemptId) -> Result<(), Breach> {
        self.check_limits(now, sent)?;
        self.check_kept(now, sent)?;
        let entry = self.entries.get_mut(&sent.delivery).ok_or(Breach::Phantom(sent.delivery))?;
        match entry.stand {
            _ if self.in_flight.contains_key(&sent.delivery) => {
                return Err(Breach::TwiceAtOnce(sent.delivery));
            }
            Stand::Owed => {}
            Stand::InFlight => return Err(Breach::TwiceAtOnce(sent.delivery)),
            Stand::Delivered | Stand::Dead | Stand::Blocks => return Err(Breach::Repeated(sent.delivery)),
            Stand::Doomed => return Err(Breach::SentToDeleted(sent.line.destination)),
        }
        if now < entry.ticket.due {
            return Err(Breach::Early { delivery: sent.delivery, due: entry.ticket.due });
        }
        if *sent != entry.ticket {
            return Err(Breach::WrongTicket(Box::new(Mismatch { sent: *sent, expected: entry.ticket })));
        }
        entry.stand = Stand::InFlight;
        self.repeated += u64::from(std::mem::take(&mut entry.excused));
        let destination = sent.line.destination;
        let lines = self.owed.entry(destination).or_default();
        lines.check_order(sent)?;
        lines.begin(sent);
        let terms = self.destinations.get_mut(&destination).ok_or(Breach::Phantom(sent.delivery))?;
        terms.sent(now, sent)?;
        let (ticket, account) = (*sent, terms.account);
        let flight = Flight { ticket, account, attempt, sent_at: now, answered: None, committed: false };
        self.in_flight.insert(sent.delivery, flight);
        self.sent_now.push(ticket);
        Ok(())
    }

    /// The receiver is done with a request, and this follows.
    pub(crate) fn answered(&mut self, delivery: DeliveryId, answered: Answered) {
        let flight = self.in_flight.get_mut(&delivery).expect("what is answered was sent");
        flight.answered = Some(answered);
    }

    /// What followed is said to be on disk.
    pub(crate) fn committed(&mut self, delivery: DeliveryId) {
        let flight = self.in_flight.get_mut(&delivery).expect("what is recorded was sent");
        flight.committed = true;
        let Answered { next, blocks_line, .. } = flight.answered.expect("what is recorded was answered");
        let entry = self.entries.get_mut(&delivery).expect("what was sent was accepted");
        if entry.stand == Stand::Doomed {
            return;
        }
        let ticket = &mut entry.ticket;
        match next {
            Next::Delivered => entry.stand = Stand::Delivered,
            Next::Dead(_) if !blocks_line => entry.stand = Stand::Dead,
            Next::Dead(_) => {
                *ticket = ticket.due_again(Timestamp::MAX);
                entry.stand = Stand::Blocks;
            }
            Next::Retry { due } => {
                *ticket = ticket.due_again(due);
                entry.stand = Stand::Owed;
            }
        }
        let (ticket, stand) = (entry.ticket, entry.stand);
        if matches!(stand, Stand::Owed | Stand::Blocks) {
            self.owe(ticket);
        }
    }

    /// The scheduler hears of it, and has the slot back.
    pub(crate) fn released(&mut self, now: Timestamp, delivery: DeliveryId) -> DestinationId {
        let flight = self.in_flight.remove(&delivery).expect("what gives its slot back had one");
        let answered = flight.answered.expect("what gives its slot back was answered");
        let destination = flight.ticket.line.destination;
        self.owed.entry(destination).or_default().end(&flight.ticket);
        if let Some(terms) = self.destinations.get_mut(&destination).filter(|terms| !terms.deleted)
            && terms.learn(now, &flight, answered.verdict)
        {
            self.moved.push(destination);
        }
        self.note_ended(flight.account, now);
        destination
    }

    fn owe(&mut self, ticket: Ticket) {
        self.lines.insert(ticket.line);
        self.owed.entry(ticket.line.destination).or_default().owe(&ticket);
    }

    /// The gateway was told to stop.
    pub(crate) fn stopping(&mut self) {
        self.stopping = true;
    }

    /// The gateway is gone, in order or not. What it had in flight goes on at the receivers, unless it was answered
    /// already, and is owed as before, unless what followed is on disk.
    pub(crate) fn ended(&mut self) {
        self.sent_now.clear();
        self.moved.clear();
        for (delivery, flight) in std::mem::take(&mut self.in_flight) {
            let Ticket { line, .. } = flight.ticket;
            if flight.answered.is_none() {
                self.orphans.insert(flight.attempt, (line.destination, flight.ticket.order_key()));
            }
            self.owed.entry(line.destination).or_default().end(&flight.ticket);
            let entry = self.entries.get_mut(&delivery).expect("what was sent was accepted");
            if entry.stand == Stand::InFlight {
                entry.stand = Stand::Owed;
                entry.excused = true;
                let ticket = entry.ticket;
                self.owe(ticket);
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
        self.owed.values().map(LineUp::len).sum()
    }

    /// Attempts that repeated one hidden by a crash.
    pub(crate) fn repeated(&self) -> u64 {
        self.repeated
    }

    /// So many tickets are in memory, more than ever before. What is allowed only grows, so less need not be checked.
    pub(crate) fn check_memory(&self, waiting: usize) -> Result<(), Breach> {
        let room = |line: &Line| match line.lane {
            Lane::Ordered(_) if self.always_by_key(line.destination) => KEY_WINDOW_MAX,
            _ => WINDOW_MAX,
        };
        let bound = self.lines.iter().map(room).sum();
        if waiting <= bound { Ok(()) } else { Err(Breach::Memory { waiting, bound }) }
    }
}
