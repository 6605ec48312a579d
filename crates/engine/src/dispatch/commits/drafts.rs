//! Events that wait for their commit, and how they are parted when they are too many for one.

use super::Commits;
use crate::ingest::Draft;
use postrider_core::limits::{COMMIT_BYTES_MAX, COMMIT_DELIVERIES_MAX, COMMIT_EVENTS_MAX};

impl Commits {
    pub(in crate::dispatch) fn has_room(&self) -> bool {
        let is_narrow = self.drafts.is_empty() || self.draft_deliveries < COMMIT_DELIVERIES_MAX;
        self.drafts.len() < COMMIT_EVENTS_MAX && self.draft_bytes < COMMIT_BYTES_MAX && is_narrow
    }

    pub(in crate::dispatch) fn take_draft(&mut self, draft: Draft) {
        match &self.paused {
            Some(why) if !draft.reply.is_nobodys() => draft.reply.send(Err(why.clone())),
            _ => {
                if self.drafts.is_empty() {
                    self.draft_deliveries = 0;
                }
                self.draft_bytes += draft.content.body.len();
                self.draft_deliveries += draft.owed.len();
                self.drafts.push(draft);
            }
        }
    }

    /// What goes into the next commit: all that waits, or as much of it as one may have. What came as one batch is not
    /// parted, since its sender has one answer.
    pub(super) fn next_drafts(&mut self) -> Vec<Draft> {
        let has_room = self.has_room();
        let mut waiting = std::mem::take(&mut self.drafts);
        self.draft_bytes = 0;
        if has_room {
            return waiting;
        }
        let mut drafts = waiting.drain(..).peekable();
        while let Some(draft) = drafts.next_if(|next| self.has_room() || next.reply.is_with_previous) {
            self.take_draft(draft);
        }
        let next = std::mem::take(&mut self.drafts);
        self.draft_bytes = 0;
        drafts.for_each(|draft| self.take_draft(draft));
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Arrival, Reply, draft};
    use crate::routing::Owed;
    use bytes::Bytes;
    use postrider_core::delivery::Priority;
    use postrider_core::id::{AccountId, DestinationId, RouteId};
    use postrider_core::time::Timestamp;
    use postrider_store::{Headers, Origin, SendWindow};

    /// An event that is owed to so many destinations.
    fn waiting(deliveries: usize, body_bytes: usize) -> Draft {
        let arrival = Arrival {
            event_type: None,
            external_id: None,
            external_scope: None,
            headers: Headers::default(),
            body: Bytes::from(vec![0; body_bytes]),
            window: SendWindow::default(),
            priority: None,
        };
        let owed = |id| Owed {
            route: RouteId::from_u64(1),
            destination: DestinationId::from_u64(id),
            priority: Priority::Normal,
            order: None,
        };
        let owed = (0..deliveries as u64).map(owed).collect();
        draft(AccountId::from_u64(1), Origin::Api(None), arrival, owed, Timestamp::ZERO, Reply::nobodys())
    }

    /// Events in each commit, when all of these have come at once.
    fn commits(drafts: impl IntoIterator<Item = Draft>) -> Vec<usize> {
        let mut commits = Commits::default();
        drafts.into_iter().for_each(|draft| commits.take_draft(draft));
        let next = || Some(commits.next_drafts().len()).filter(|events| *events > 0);
        let found = std::iter::from_fn(next).collect();
        assert!(commits.has_room());
        found
    }

    #[test]
    fn a_commit_has_no_more_deliveries_than_it_may() {
        let many = |count| (0..count).map(|_| waiting(COMMIT_DELIVERIES_MAX / 4, 0));
        assert_eq!(commits(many(3)), [3]);
        assert_eq!(commits(many(10)), [4, 4, 2]);
        assert_eq!(commits([COMMIT_DELIVERIES_MAX * 2, 1, 1].map(|width| waiting(width, 0))), [1, 2]);
    }

    #[test]
    fn a_commit_has_no_more_events_and_bytes_than_it_may() {
        assert_eq!(
            commits((0..2 * COMMIT_EVENTS_MAX + 1).map(|_| waiting(1, 0))),
            [COMMIT_EVENTS_MAX, COMMIT_EVENTS_MAX, 1]
        );
        assert_eq!(commits((0..5).map(|_| waiting(1, COMMIT_BYTES_MAX / 2))), [2, 2, 1]);
    }

    #[test]
    fn what_came_as_one_batch_is_not_parted() {
        let mut drafts: Vec<Draft> = (0..9).map(|_| waiting(COMMIT_DELIVERIES_MAX / 4, 0)).collect();
        // The third to the seventh are of one batch.
        drafts[3..7].iter_mut().for_each(|draft| draft.reply.is_with_previous = true);
        assert_eq!(commits(drafts), [7, 2]);
    }
}
