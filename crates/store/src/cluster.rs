//! Several nodes on one store: destinations are spread over shards, and a node owns whole shards. What it must hear
//! from the others are news.

use crate::configuration::Change;
use crate::query::LineDepth;
use crate::start::Start;
use postrider_core::breaker::{CircuitOrder, CircuitRecord};
use postrider_core::delivery::Ticket;
use postrider_core::id::{DestinationId, ReplayId};
use postrider_core::scheduler::Depth;
use std::fmt;
use std::time::Instant;

/// A part of the destinations, owned by one node at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard(u8);

impl Shard {
    /// How many there are.
    pub const COUNT: u8 = 64;

    /// That of a destination: the same on every node and in every version, since rows carry it.
    pub fn of(destination: DestinationId) -> Self {
        Shard::of_id(destination.as_u64())
    }

    /// That of a replay: its owner runs it.
    pub fn of_replay(replay: ReplayId) -> Self {
        Shard::of_id(replay.as_u64())
    }

    fn of_id(id: u64) -> Self {
        // Ids of one burst differ in few bits; the multiplication spreads them over the upper ones.
        let mixed = id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        Shard(u8::try_from(mixed % u64::from(Shard::COUNT)).expect("there are few shards"))
    }

    /// The shard with a number.
    pub fn from_number(number: u64) -> Option<Self> {
        u8::try_from(number).ok().filter(|number| *number < Shard::COUNT).map(Shard)
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// A set of shards.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Shards(u64);

const _: () = assert!(Shard::COUNT as u32 == u64::BITS, "a shard is a bit");

impl Shards {
    /// None.
    pub const NONE: Shards = Shards(0);
    /// All of them: what the only node of a store owns.
    pub const ALL: Shards = Shards(u64::MAX);

    /// Whether a shard is among them.
    pub const fn contains(self, shard: Shard) -> bool {
        self.0 >> shard.0 & 1 == 1
    }

    /// Whether a destination's shard is among them.
    pub fn own(self, destination: DestinationId) -> bool {
        self.contains(Shard::of(destination))
    }

    /// With another.
    #[must_use]
    pub const fn with(self, shard: Shard) -> Self {
        Shards(self.0 | 1 << shard.0)
    }

    /// Those that are in one but not in the other.
    #[must_use]
    pub const fn without(self, others: Shards) -> Self {
        Shards(self.0 & !others.0)
    }

    /// Those that are in both.
    #[must_use]
    pub const fn within(self, others: Shards) -> Self {
        Shards(self.0 & others.0)
    }

    /// Those of the one and those of the other.
    #[must_use]
    pub const fn and(self, others: Shards) -> Self {
        Shards(self.0 | others.0)
    }

    /// A bit for each, the first shard's the lowest.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Those with a bit in it, the first shard's the lowest.
    pub const fn from_bits(bits: u64) -> Self {
        Shards(bits)
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// In order.
    pub fn iter(self) -> impl Iterator<Item = Shard> {
        (0..Shard::COUNT).map(Shard).filter(move |shard| self.contains(*shard))
    }
}

impl FromIterator<Shard> for Shards {
    fn from_iter<I: IntoIterator<Item = Shard>>(shards: I) -> Self {
        shards.into_iter().fold(Shards::NONE, Shards::with)
    }
}

impl fmt::Debug for Shards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Shard::number)).finish()
    }
}

/// Something that this node must hear.
#[derive(Clone, Debug)]
pub enum News {
    /// These shards are its own from now on.
    Gained(Gained),
    /// These are its own no longer: what it still does for them is written by nobody.
    Lost(Shards),
    /// Others are to have these: to be handed over once nothing of them is in flight.
    Wanted(Shards),
    /// No attempt may begin after this, unless it hears of a later time before.
    Lease(Instant),
    /// It was taken for dead and lives on: batches that are made from now on are of this life, the first being 0. It has
    /// another number, which its ids must carry: the old one may become another node's.
    NewLife {
        /// Its number.
        node: u16,
        /// Which life it is.
        life: u64,
    },
    /// Another node has done something for a destination of its own.
    Mail(Mail),
    /// Other nodes have changed the configuration, which is at this version now.
    Configured(u64, Vec<Change>),
}

/// Shards with what there is in them.
#[derive(Clone, Debug, Default)]
pub struct Gained {
    /// Which.
    pub shards: Shards,
    /// Those of them whose last owner left in order, with nothing in flight.
    pub clean: Shards,
    /// What is owed in them.
    pub lines: Vec<LineDepth>,
    /// Where circuits stand that are not closed.
    pub circuits: Vec<(DestinationId, CircuitRecord)>,
    /// What was in flight when their last owner was cut off, as [`Store::interrupted_starts`] tells it.
    ///
    /// [`Store::interrupted_starts`]: crate::Store::interrupted_starts
    pub starts: Vec<Start>,
}

impl Gained {
    /// What is left of it when some were lost again.
    #[must_use]
    pub fn without(mut self, lost: Shards) -> Self {
        self.shards = self.shards.without(lost);
        self.clean = self.clean.without(lost);
        self.lines.retain(|depth| !lost.own(depth.line.destination));
        self.circuits.retain(|(destination, _)| !lost.own(*destination));
        self.starts.retain(|start| !lost.own(start.destination));
        self
    }
}

/// What another node has done.
#[derive(Clone, Debug, PartialEq)]
pub enum Mail {
    /// So much more is owed in a line.
    Arrived(LineDepth),
    /// What blocked an ordered line does so no longer.
    Unblocked(Ticket),
    /// So much that blocked ordered lines of a destination is gone.
    Released(DestinationId, Depth),
    /// An operator's word about a circuit.
    Circuit(DestinationId, CircuitOrder),
    /// A replay was made, or somebody changed it.
    Replay(ReplayId),
}

impl Mail {
    /// Whose owner is to read it.
    pub fn shard(&self) -> Shard {
        match self {
            Mail::Arrived(depth) => Shard::of(depth.line.destination),
            Mail::Unblocked(ticket) => Shard::of(ticket.line.destination),
            Mail::Released(destination, _) | Mail::Circuit(destination, _) => Shard::of(*destination),
            Mail::Replay(replay) => Shard::of_replay(*replay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_spread_over_the_shards() {
        let mut counts = [0; Shard::COUNT as usize];
        for id in 0..6400_u64 {
            counts[usize::from(Shard::of(DestinationId::from_u64((1 << 60) + id * 1024)).number())] += 1;
        }
        assert!(counts.iter().all(|count| (50..=150).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_set_holds_what_was_put_into_it() {
        let some: Shards = [0, 5, 63].into_iter().filter_map(Shard::from_number).collect();
        assert_eq!((some.len(), some.iter().map(Shard::number).collect::<Vec<_>>()), (3, vec![0, 5, 63]));
        assert_eq!(Shards::ALL.without(some).len(), 61);
        assert_eq!(Shards::ALL.without(some).and(some), Shards::ALL);
        assert!(Shard::from_number(64).is_none() && Shards::NONE.is_empty());
    }
}
