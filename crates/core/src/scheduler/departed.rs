//! What has left a destination's queue while pages of it were on their way: such a page may still list it.

use crate::delivery::{Line, Ticket};
use crate::map::IdMap;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Whose rows were asked for: those of a line, or of an ordered lane's keys.
pub(super) type Asked = Option<Line>;

/// Each is kept until the last page has come that was asked for before it left, and no longer: with many keys some page is
/// always on its way.
#[derive(Debug, Default)]
pub(super) struct Departed {
    /// How many have left so far.
    count: u64,
    /// Pages on their way, with how many had left when each was asked for.
    pages: BTreeMap<Asked, u64>,
    /// The same, the oldest first.
    oldest: BTreeSet<(u64, Asked)>,
    /// Those that a page may list, with how many had left before each.
    known: IdMap<Ticket, u64>,
    /// The same in their order.
    order: VecDeque<(u64, Ticket)>,
}

impl Departed {
    /// A page is asked for.
    pub(super) fn page_asked(&mut self, of: Asked) {
        if let Some(before) = self.pages.insert(of, self.count) {
            self.oldest.remove(&(before, of));
        }
        self.oldest.insert((self.count, of));
    }

    /// A page came, or will not come, and what it lists was looked at.
    pub(super) fn page_ended(&mut self, of: Asked) {
        if let Some(asked) = self.pages.remove(&of) {
            self.oldest.remove(&(asked, of));
        }
        let oldest = self.oldest.first().map_or(u64::MAX, |(asked, _)| *asked);
        while let Some((place, ticket)) = self.order.pop_front_if(|(place, _)| *place < oldest) {
            // It may have left a second time.
            if self.known.get(&ticket) == Some(&place) {
                self.known.remove(&ticket);
            }
        }
    }

    /// An attempt ended.
    pub(super) fn note(&mut self, ticket: Ticket) {
        if !self.pages.is_empty() {
            self.known.insert(ticket, self.count);
            self.order.push_back((self.count, ticket));
            self.count += 1;
        }
    }

    /// Whether a row is of one that has left since its page was asked for.
    pub(super) fn contains(&self, row: &Ticket) -> bool {
        self.known.contains_key(row)
    }

    /// How many are remembered.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }
}
