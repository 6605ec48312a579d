//! Dead letters by destination and cause: how many there are of each, and what the newest ran into.

use postrider_core::id::DestinationId;
use postrider_core::outcome::DeathReason;
use postrider_core::time::Timestamp;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Groups that are held while they are gathered from several parts of a store. Whoever has more destinations with dead
/// letters gets the counts of the first that were met.
const HELD_MAX: usize = 10_000;

/// Those that were owed to one destination and given up on for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetterGroup {
    /// To whom they were owed.
    pub destination: DestinationId,
    /// Why they were given up on.
    pub reason: DeathReason,
    /// How many there are.
    pub count: u64,
    /// When the newest was given up on.
    pub last_died_at: Timestamp,
    /// What was wrong with the newest, in one sentence.
    pub last_error: Option<String>,
}

/// The groups of an account, the largest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadLetterGroups {
    /// At most as many as asked for.
    pub items: Vec<DeadLetterGroup>,
    /// There are further groups.
    pub cut: bool,
}

impl DeadLetterGroups {
    /// From the groups of several parts of a store, in which one may stand more than once.
    pub fn gather(parts: impl IntoIterator<Item = DeadLetterGroup>, limit: usize) -> Self {
        let mut held: HashMap<(DestinationId, &str), DeadLetterGroup> = HashMap::new();
        let mut cut = false;
        for part in parts {
            let key = (part.destination, part.reason.as_str());
            let has_room = held.len() < HELD_MAX;
            match held.entry(key) {
                Entry::Occupied(mut known) => known.get_mut().add(part),
                Entry::Vacant(free) if has_room => drop(free.insert(part)),
                Entry::Vacant(_) => cut = true,
            }
        }
        let mut items: Vec<DeadLetterGroup> = held.into_values().collect();
        items.sort_unstable_by(|a, b| {
            let rank = |group: &DeadLetterGroup| (group.count, group.last_died_at, group.destination);
            rank(b).cmp(&rank(a)).then_with(|| a.reason.as_str().cmp(b.reason.as_str()))
        });
        DeadLetterGroups { cut: cut || items.len() > limit, items }.at_most(limit)
    }

    fn at_most(mut self, limit: usize) -> Self {
        self.items.truncate(limit);
        self
    }
}

impl DeadLetterGroup {
    fn add(&mut self, other: DeadLetterGroup) {
        self.count += other.count;
        if other.last_died_at > self.last_died_at {
            self.last_died_at = other.last_died_at;
            self.last_error = other.last_error;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(destination: u64, count: u64, died_ms: u64) -> DeadLetterGroup {
        DeadLetterGroup {
            destination: DestinationId::from_u64(destination),
            reason: DeathReason::Attempts,
            count,
            last_died_at: Timestamp::from_unix_ms(died_ms),
            last_error: Some(format!("at {died_ms}")),
        }
    }

    #[test]
    fn parts_of_a_group_are_added_and_the_largest_come_first() {
        let all = DeadLetterGroups::gather([group(1, 2, 10), group(2, 4, 20), group(1, 3, 30)], 9);
        assert_eq!(all, DeadLetterGroups { items: vec![group(1, 5, 30), group(2, 4, 20)], cut: false });
        let first = DeadLetterGroups::gather([group(1, 5, 30), group(1, 1, 5), group(2, 4, 20)], 1);
        assert_eq!(first, DeadLetterGroups { items: vec![group(1, 6, 30)], cut: true });
        assert_eq!(DeadLetterGroups::gather([], 1), DeadLetterGroups::default());
    }

    #[test]
    fn no_more_groups_are_held_than_a_bound_and_it_is_said() {
        let many = (0..HELD_MAX as u64 + 5).chain([0]).map(|id| group(id, 1, id));
        let found = DeadLetterGroups::gather(many, HELD_MAX);
        assert_eq!((found.items.len(), found.items[0].count, found.cut), (HELD_MAX, 2, true));
    }
}
