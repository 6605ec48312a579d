//! How much is owed in all: counted when it is told of, not when it is seen.
//!
//! A page may bring what another node has committed before word of it comes, and it may even end before. What was
//! taken off ahead of its time is remembered, and what is told of later is set off against it.

use super::{Depth, Scheduler};
use crate::delivery::{Lane, Priority};
use crate::id::DestinationId;

impl Scheduler {
    pub(super) fn pending_grows(
        &mut self,
        id: DestinationId,
        lane: Lane,
        priority: Priority,
        by: Depth,
    ) -> Option<()> {
        let destination = self.destinations.get_mut(&id)?;
        let by = match self.ended_ahead.get_mut(&id) {
            None => by,
            Some(ahead) => {
                let settled = ahead.least(by);
                ahead.subtract(settled);
                if *ahead == Depth::default() {
                    self.ended_ahead.remove(&id);
                }
                Depth { rows: by.rows - settled.rows, bytes: by.bytes - settled.bytes }
            }
        };
        destination.pending += by;
        destination.by_line.add(priority, lane, by.rows);
        self.pending += by;
        let account = destination.settings.account;
        *self.pending_by_account.entry(account).or_default() += by;
        if by.rows > 0 {
            self.queue.owes(account);
        }
        Some(())
    }

    pub(super) fn pending_shrinks(&mut self, id: DestinationId, lane: Lane, priority: Priority, by: Depth) {
        let Some(destination) = self.destinations.get_mut(&id) else { return };
        let counted = by.least(destination.pending);
        if counted != by {
            let ahead = self.ended_ahead.entry(id).or_default();
            *ahead += Depth { rows: by.rows - counted.rows, bytes: by.bytes - counted.bytes };
        }
        destination.pending.subtract(counted);
        destination.by_line.subtract(priority, lane, counted.rows);
        self.pending.subtract(counted);
        if let Some(of_account) = self.pending_by_account.get_mut(&destination.settings.account) {
            of_account.subtract(counted);
            if of_account.rows == 0 {
                self.pending_by_account.remove(&destination.settings.account);
                self.queue.owes_nothing(destination.settings.account);
            }
        }
    }
}
