//! Watching what happens, from now on or from where a watcher has left off.

use super::Engine;
use crate::catalog::Catalog;
use crate::live::{AcceptedEvent, Crowded, DestinationChange, Happening, HappeningKind, LiveFilter, Watch};
use crate::operational::{Notice, NoticeKind};
use postrider_core::id::{AccountId, EventId, time_of};
use postrider_core::limits::STREAM_RESUME_MAX;
use postrider_core::time::Timestamp;
use postrider_store::{Change, EventFilter, EventQuery, NUMBERED_WITHIN, StoreError};
use serde_json::json;

/// Events read at once.
const PAGE: usize = 200;

/// What was accepted since a watcher has left off.
#[derive(Debug, Default)]
pub struct Resumed {
    /// Oldest first.
    pub events: Vec<AcceptedEvent>,
    /// There were older ones, too many to be told.
    pub cut: bool,
}

impl Engine {
    /// A place to watch from. What happens from now on waits there.
    pub fn watch(&self, filter: LiveFilter) -> Result<Watch, Crowded> {
        self.live.watch(filter)
    }

    /// What an account's watcher wants of the events that were accepted behind this one. With the watch that was
    /// begun before, nothing is missing; what is in both is for the caller to leave out.
    pub async fn accepted_since(
        &self,
        account: AccountId,
        filter: &LiveFilter,
        last: EventId,
    ) -> Result<Resumed, StoreError> {
        let mut resumed = Resumed::default();
        if !filter.kinds.contains(&HappeningKind::Accepted) {
            return Ok(resumed);
        }
        let wanted = EventFilter {
            event_type: filter.event_type.clone(),
            source: filter.source,
            destination: filter.destination,
            since: Some(time_of(last.as_u64()).before(NUMBERED_WITHIN)),
            ..EventFilter::default()
        };
        let mut after = None;
        loop {
            let query = EventQuery { account, filter: wanted.clone(), after, limit: PAGE, offset: 0 };
            let page = self.events(query).await?;
            let newer = page.items.iter().take_while(|event| event.id > last);
            resumed.events.extend(newer.map(AcceptedEvent::of_detail));
            if resumed.events.len() > STREAM_RESUME_MAX {
                resumed.events.truncate(STREAM_RESUME_MAX);
                resumed.cut = true;
                break;
            }
            after = page.next.filter(|next| *next > last);
            if after.is_none() {
                break;
            }
        }
        resumed.events.reverse();
        Ok(resumed)
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

/// What a change means for whether a destination is sent to.
fn status_change(catalog: &Catalog, change: &Change, at: Timestamp) -> Option<DestinationChange> {
    let Change::PutDestination(new) = change else { return None };
    let old = catalog.any_destination(new.id)?.status();
    let (account, destination, status) = (new.account, new.id, new.status());
    let reason = new.disabled_reason.clone();
    (old != status).then_some(DestinationChange { account, destination, status, reason, at })
}
