//! Which shards the dispatcher takes for its own, and what becomes of attempts when that changes.

use super::Dispatcher;
use crate::lease::Lease;
use crate::pause::random_bits;
use postrider_core::breaker::CircuitRecord;
use postrider_core::delivery::Ticket;
use postrider_core::id::{DeliveryId, DestinationId};
use postrider_core::map::IdSet;
use postrider_core::retry::Chance;
use postrider_core::scheduler::{Input, Settings};
use postrider_core::time::Timestamp;
use postrider_store::{LineDepth, Shard, Shards, Start};
use std::sync::PoisonError;
use tokio::sync::oneshot;

/// Shards that become its own, with all the scheduler must know of them. In one message: an event that is committed
/// after it is given to a scheduler that knows its destination.
pub(crate) struct Gain {
    pub(crate) shards: Shards,
    pub(crate) settings: Vec<(DestinationId, Settings)>,
    /// Those whose last owner was cut off: what it sent a moment ago counts for their rate limits.
    pub(crate) unclean: Vec<DestinationId>,
    pub(crate) circuits: Vec<(DestinationId, CircuitRecord)>,
    pub(crate) lines: Vec<LineDepth>,
    /// Those of the shards whose last owner was cut off.
    pub(crate) cut_off: Shards,
    /// What was in flight then, as far as it was noted.
    pub(crate) starts: Vec<Start>,
}

/// For each shard how often it was lost or let go of.
struct Losses([u32; Shard::COUNT as usize]);

impl Default for Losses {
    fn default() -> Self {
        Losses([0; Shard::COUNT as usize])
    }
}

impl Losses {
    fn note(&mut self, shards: Shards) {
        shards.iter().for_each(|shard| self.0[usize::from(shard.number())] += 1);
    }
}

pub(super) struct Owned {
    /// Its own.
    pub(super) shards: Shards,
    /// Where the last owner of a shard was cut off, when the shard was gained: the starts of what was due by then are noted.
    noted_until: [Timestamp; Shard::COUNT as usize],
    /// How often each shard was lost or let go of: what was read of it before is of no use after.
    losses: Losses,
    /// The node's life in which it knows that.
    pub(super) life: u64,
    lease: Lease,
    /// Attempts that wait for the lease to be renewed.
    held: Vec<Ticket>,
    /// In flight when their shard was lost: what became of them is written by nobody.
    fenced: IdSet<DeliveryId>,
    /// Who waits until nothing of these shards is in flight.
    waiting: Vec<(Shards, oneshot::Sender<()>)>,
}

impl Owned {
    pub(super) fn new(lease: Lease) -> Self {
        Owned {
            shards: Shards::NONE,
            noted_until: [Timestamp::ZERO; Shard::COUNT as usize],
            losses: Losses::default(),
            life: 0,
            lease,
            held: Vec::new(),
            fenced: IdSet::default(),
            waiting: Vec::new(),
        }
    }

    /// How often the shard of a destination was lost so far.
    pub(super) fn losses(&self, destination: DestinationId) -> u32 {
        self.losses.0[usize::from(Shard::of(destination).number())]
    }

    /// Until when what is due for a destination is noted before it is sent.
    pub(super) fn noted_until(&self, destination: DestinationId) -> Timestamp {
        self.noted_until[usize::from(Shard::of(destination).number())]
    }

    fn note_until(&mut self, shards: Shards, until: Timestamp) {
        shards.iter().for_each(|shard| self.noted_until[usize::from(shard.number())] = until);
    }

    pub(super) fn is_fenced(&self, delivery: DeliveryId) -> bool {
        self.fenced.contains(&delivery)
    }

    /// What became of it is on disk after all: the commit was made before its shard was lost.
    pub(super) fn written(&mut self, delivery: DeliveryId) {
        self.fenced.remove(&delivery);
    }

    /// Whether an attempt may begin now.
    pub(super) fn may_begin(&self) -> bool {
        self.lease.holds()
    }

    pub(super) fn hold(&mut self, ticket: Ticket) {
        self.held.push(ticket);
    }
}

impl Dispatcher {
    pub(super) fn gain(&mut self, gain: Gain) {
        self.owned.note_until(gain.shards, Timestamp::ZERO);
        self.owned.note_until(gain.cut_off, self.now);
        for start in gain.starts {
            self.gate.was_in_flight(start.delivery, start.destination, start.stops);
        }
        for (id, settings) in gain.settings {
            self.step(Input::Configure(id, settings));
        }
        gain.unclean.into_iter().for_each(|id| self.step(Input::SpendRate(id)));
        for (id, record) in gain.circuits {
            self.step(Input::Restore(id, record));
        }
        gain.lines.into_iter().for_each(|found| self.step(found.found()));
        self.owned.shards = self.owned.shards.and(gain.shards);
    }

    /// Sends nothing more for these shards. What is in flight is still this node's to record.
    pub(super) fn let_go(&mut self, shards: Shards, reply: oneshot::Sender<()>) {
        self.forget(shards);
        self.withdraw_held(shards);
        self.wait_idle(shards, reply);
    }

    /// They are somebody else's: what is in flight is dropped when it ends.
    pub(super) fn lose(&mut self, shards: Shards) {
        let owned = self.owned.shards.within(shards);
        self.forget(shards);
        let in_flight = self.scheduler.in_flight();
        let lost: Vec<DeliveryId> = in_flight
            .filter(|ticket| shards.own(ticket.line.destination))
            .map(|ticket| ticket.delivery)
            .collect();
        self.owned.fenced.extend(lost);
        self.lose_starts(shards);
        let held = std::mem::take(&mut self.owned.held);
        for ticket in held {
            match shards.own(ticket.line.destination) {
                true => self.drop_fenced(ticket.delivery),
                false => self.owned.hold(ticket),
            }
        }
        self.drop_fenced_outcomes();
        let (fenced, in_flight) = (self.meters.fenced.get(), self.owned.fenced.len());
        tracing::warn!(
            shards = owned.len(),
            in_flight,
            dropped_since_start = fenced,
            "shards taken over by another node; their attempts in flight are not recorded here"
        );
    }

    fn forget(&mut self, shards: Shards) {
        self.owned.shards = self.owned.shards.without(shards);
        self.owned.losses.note(shards);
        let ids: Vec<DestinationId> = {
            let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
            catalog.all_destinations().map(|found| found.id).filter(|id| shards.own(*id)).collect()
        };
        ids.into_iter().for_each(|id| self.step(Input::Remove(id)));
    }

    /// Gives the slot back of an attempt that is not recorded.
    pub(super) fn drop_fenced(&mut self, delivery: DeliveryId) {
        self.owned.fenced.remove(&delivery);
        self.seen.remove(&delivery);
        self.meters.fenced.add(1);
        self.free_slot(delivery);
    }

    /// Outcomes that wait to be written and must not be.
    pub(super) fn drop_fenced_outcomes(&mut self) {
        if self.owned.fenced.is_empty() {
            return;
        }
        for delivery in self.commits.take_out(|delivery| self.owned.is_fenced(delivery)) {
            self.drop_fenced(delivery);
        }
    }

    pub(super) fn wait_idle(&mut self, shards: Shards, reply: oneshot::Sender<()>) {
        self.owned.waiting.push((shards, reply));
    }

    /// What was held goes back to where it stood: its destination's rate limit let it pass when the lease had ended, and so
    /// says nothing of now.
    pub(super) fn leased(&mut self) {
        self.meters.lease_renewals.add(1);
        for ticket in std::mem::take(&mut self.owned.held) {
            let chance = Chance::new(random_bits());
            self.step(Input::Deferred { delivery: ticket.delivery, chance });
        }
    }

    /// Tells those who waited for their shards to be idle.
    pub(super) fn tell_idle(&mut self) {
        if self.owned.waiting.is_empty() {
            return;
        }
        let in_flight = self.scheduler.in_flight().map(|ticket| Shard::of(ticket.line.destination));
        let busy = in_flight.collect::<Shards>().and(self.commits.running_own());
        let (waiting, idle): (Vec<_>, Vec<_>) = std::mem::take(&mut self.owned.waiting)
            .into_iter()
            .partition(|(shards, _)| !shards.within(busy).is_empty());
        self.owned.waiting = waiting;
        for (_, reply) in idle {
            let _ = reply.send(());
        }
    }
}
