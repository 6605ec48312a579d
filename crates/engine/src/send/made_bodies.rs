//! The bytes of bodies that transforms make, while their attempts are in flight.
//!
//! The scheduler counts the body of an event before it is sent, and a transform makes another one only then: of an event of
//! a few bytes one of megabytes, for each attempt anew. So these have a budget beside the scheduler's, by the same rules: a
//! scope is open while it has fewer bytes than its limit, and light bodies neither count nor wait. What finds it shut is put
//! back as if the slot had never been given.

use super::shortage::Shortage;
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::limits::{LIGHT_BODY_BYTES_MAX, WRITE_BUFFERS_BYTES_MAX};
use postrider_core::map::IdMap;
use postrider_core::scheduler::ByteLimits;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// They may have this part of what the bodies of events may have.
const PART: u64 = 2;

/// Shared by all workers of a node.
pub(crate) struct MadeBodies(Mutex<Counts>);

struct Counts {
    limits: ByteLimits,
    node: u64,
    accounts: IdMap<AccountId, u64>,
    destinations: IdMap<DestinationId, u64>,
}

/// The bytes of one body; given back when dropped.
pub(crate) struct MadeBody {
    of: Arc<MadeBodies>,
    account: AccountId,
    destination: DestinationId,
    bytes: u64,
}

impl MadeBodies {
    /// Beside what the bodies of events may have.
    pub(crate) fn beside(events: ByteLimits) -> Arc<Self> {
        let (node, accounts, destinations) = (0, IdMap::default(), IdMap::default());
        Arc::new(MadeBodies(Mutex::new(Counts { limits: part(events), node, accounts, destinations })))
    }

    /// Other limits count for the bodies that are made next.
    pub(crate) fn limit(&self, events: ByteLimits) {
        self.counts().limits = part(events);
    }

    /// Counts a body until what is given back is dropped.
    pub(crate) fn take(
        self: &Arc<Self>,
        account: AccountId,
        destination: DestinationId,
        body_bytes: usize,
    ) -> Result<Option<MadeBody>, Shortage> {
        if body_bytes <= LIGHT_BODY_BYTES_MAX {
            return Ok(None);
        }
        // With what its receiver has not taken of it.
        let bytes = (body_bytes + body_bytes.min(WRITE_BUFFERS_BYTES_MAX)) as u64;
        let mut counts = self.counts();
        if !counts.is_open(account, destination) {
            return Err(Shortage::TransformedBodies);
        }
        counts.node += bytes;
        *counts.accounts.entry(account).or_default() += bytes;
        *counts.destinations.entry(destination).or_default() += bytes;
        Ok(Some(MadeBody { of: Arc::clone(self), account, destination, bytes }))
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn part(events: ByteLimits) -> ByteLimits {
    let ByteLimits { node, account, destination } = events;
    ByteLimits { node: node / PART, account: account / PART, destination: destination / PART }
}

impl Counts {
    fn is_open(&self, account: AccountId, destination: DestinationId) -> bool {
        let of_account = self.accounts.get(&account).copied().unwrap_or_default();
        let of_destination = self.destinations.get(&destination).copied().unwrap_or_default();
        self.node < self.limits.node
            && of_account < self.limits.account
            && of_destination < self.limits.destination
    }

    fn give_back(&mut self, body: &MadeBody) {
        self.node -= body.bytes;
        let left = self.accounts.get_mut(&body.account).expect("the account of a body is counted");
        *left -= body.bytes;
        if *left == 0 {
            self.accounts.remove(&body.account);
        }
        let left =
            self.destinations.get_mut(&body.destination).expect("the destination of a body is counted");
        *left -= body.bytes;
        if *left == 0 {
            self.destinations.remove(&body.destination);
        }
    }
}

impl Drop for MadeBody {
    fn drop(&mut self) {
        self.of.counts().give_back(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;
    const LIMITS: ByteLimits =
        ByteLimits { node: 24 * MIB as u64, account: 16 * MIB as u64, destination: 8 * MIB as u64 };

    #[test]
    fn a_scope_is_passed_by_one_body_at_most_and_leaves_the_others_theirs() {
        let bodies = MadeBodies::beside(LIMITS);
        let take = |account, destination| {
            bodies.take(AccountId::from_u64(account), DestinationId::from_u64(destination), 4 * MIB)
        };
        let first = take(1, 1).unwrap();
        assert_eq!(take(1, 1).err(), Some(Shortage::TransformedBodies), "its destination has its 4 MiB");
        let second = take(1, 2).unwrap();
        assert_eq!(take(1, 3).err(), Some(Shortage::TransformedBodies), "its account has its 8 MiB");
        let third = take(2, 4).unwrap();
        assert_eq!(take(3, 5).err(), Some(Shortage::TransformedBodies), "the node has its 12 MiB");
        drop(first);
        drop(take(3, 5).unwrap());
        drop((second, third));
        let counts = bodies.counts();
        assert_eq!((counts.node, counts.accounts.len(), counts.destinations.len()), (0, 0, 0));
    }

    #[test]
    fn light_bodies_neither_count_nor_wait() {
        let bodies = MadeBodies::beside(ByteLimits { node: 0, account: 0, destination: 0 });
        let take = |bytes| bodies.take(AccountId::from_u64(1), DestinationId::from_u64(1), bytes);
        assert!(take(LIGHT_BODY_BYTES_MAX).is_ok_and(|body| body.is_none()));
        assert!(take(LIGHT_BODY_BYTES_MAX + 1).is_err());
    }
}
