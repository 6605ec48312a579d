//! Watching what happens, from now on or from where a watcher has left off.

use super::Engine;
use crate::catalog::Catalog;
use crate::live::{AcceptedEvent, Crowded, DestinationChange, Happening, HappeningKind, LiveFilter, Watch};
use crate::operational::{Notice, NoticeKind};
use postrider_core::id::{AccountId, EventId, time_of};
use postrider_core::limits::{SCAN_EVENTS_MAX, STREAM_RESUME_MAX};
use postrider_core::time::Timestamp;
use postrider_store::{Change, EventFilter, EventQuery, FanOut, NUMBERED_WITHIN, StoreError};
use serde_json::json;

/// Events read at once.
const PAGE: usize = 200;
/// On several nodes one may be accepted with a lower id while its stretch is told.
const PAGE_LATER: usize = 2 * PAGE;

/// What was accepted since a watcher has left off, as the stretches that it is read in.
#[derive(Debug, Default)]
pub struct Missed {
    /// Oldest first.
    pub stretches: Vec<Stretch>,
    /// There were older ones, too many to be told or to be looked through.
    pub cut: bool,
}

/// Some events, by their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    oldest: EventId,
    behind: EventId,
}

impl Engine {
    /// A place to watch from. What happens from now on waits there.
    pub fn watch(&self, filter: LiveFilter) -> Result<Watch, Crowded> {
        self.live.watch(filter)
    }

    /// What an account's watcher wants of the events that were accepted behind this one. With the watch that was
    /// begun before, nothing is missing; what is in both is for the caller to leave out. Events are listed from the newest
    /// and told from the oldest: in between only the ends of stretches are kept.
    pub async fn missed_since(
        &self,
        account: AccountId,
        filter: &LiveFilter,
        last: EventId,
    ) -> Result<Missed, StoreError> {
        let mut missed = Missed::default();
        if !filter.kinds.contains(&HappeningKind::Accepted) {
            return Ok(missed);
        }
        let (mut behind, mut found, mut scanned) = (EventId::from_u64(u64::MAX >> 1), 0, 0);
        loop {
            let page = self.events(accepted(account, filter, last, behind, PAGE)).await?;
            scanned += page.scanned;
            let room = STREAM_RESUME_MAX - found;
            let newer: Vec<EventId> =
                page.items.iter().map(|event| event.id).take_while(|id| *id > last).collect();
            let told = &newer[..newer.len().min(room)];
            if let (Some(newest), Some(oldest)) = (told.first(), told.last()) {
                // What is accepted from now on is told by the watch.
                let behind = EventId::from_u64(newest.as_u64() + 1);
                missed.stretches.push(Stretch { oldest: *oldest, behind });
            }
            found += told.len();
            let next = page.next.filter(|next| *next > last);
            missed.cut = newer.len() > room
                || next.is_some() && (found == STREAM_RESUME_MAX || scanned >= SCAN_EVENTS_MAX as u64);
            match next {
                Some(next) if !missed.cut => behind = next,
                _ => break,
            }
        }
        missed.stretches.reverse();
        Ok(missed)
    }

    /// The events of a stretch, oldest first.
    pub async fn accepted_in(
        &self,
        account: AccountId,
        filter: &LiveFilter,
        stretch: Stretch,
    ) -> Result<Vec<AcceptedEvent>, StoreError> {
        let Stretch { oldest, behind } = stretch;
        let page = self.events(accepted(account, filter, oldest, behind, PAGE_LATER)).await?;
        let within = page.items.iter().take_while(|event| event.id >= oldest);
        let mut events: Vec<AcceptedEvent> = within.map(AcceptedEvent::of_detail).collect();
        events.reverse();
        Ok(events)
    }

    /// Tells watchers of a destination that is sent to no longer, or again, and gives it. Asked before the change is in
    /// memory.
    pub(super) fn tell_watchers(&self, change: &Change) -> Option<DestinationChange> {
        let told = status_change(&self.catalog(), change, self.clock.now())?;
        if self.live.is_watched() {
            self.live.tell(Happening::Destination(told.clone()));
        }
        Some(told)
    }
}

impl DestinationChange {
    /// For who is told of destinations that were disabled.
    pub(super) fn notice(&self) -> Notice {
        Notice {
            kind: NoticeKind::DestinationDisabled,
            account: Some(self.account),
            destination: Some(self.destination),
            facts: json!({ "disabled_reason": self.reason }),
        }
    }
}

/// Those that a watcher wants, behind one in the list and not much older than another.
fn accepted(
    account: AccountId,
    filter: &LiveFilter,
    since: EventId,
    behind: EventId,
    limit: usize,
) -> EventQuery {
    let filter = EventFilter {
        event_type: filter.event_type.clone(),
        source: filter.source,
        destination: filter.destination,
        since: Some(time_of(since.as_u64()).before(NUMBERED_WITHIN)),
        ..EventFilter::default()
    };
    EventQuery { account, filter, after: Some(behind), limit, offset: 0, fan_out: FanOut::default() }
}

/// What a change means for whether a destination is sent to.
fn status_change(catalog: &Catalog, change: &Change, at: Timestamp) -> Option<DestinationChange> {
    let Change::PutDestination(new) = change else { return None };
    let old = catalog.any_destination(new.id)?.status();
    let (account, destination, status) = (new.account, new.id, new.status());
    let reason = new.disabled_reason.clone();
    (old != status).then_some(DestinationChange { account, destination, status, reason, at })
}
