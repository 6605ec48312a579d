//! Deliveries one by one: they are found by their events, which are in the order of time.

use super::reading::overlay;
use super::{Activity, Engine};
use postrider_core::delivery::DeliveryStatus;
use postrider_core::id::{AccountId, DeliveryId, EventId};
use postrider_store::{DeliveryState, EventDetail, EventFilter, EventPage, EventQuery, FanOut, StoreError};
use std::sync::Arc;

/// Events read at once.
const STEP: usize = 50;
/// Events without anything to list that are passed over in one look.
const PASSED_MAX: usize = 2000;

/// Which deliveries of an account to list.
#[derive(Clone, Debug)]
pub struct DeliveryQuery {
    /// Whose.
    pub account: AccountId,
    /// Of such events, and such of their deliveries.
    pub filter: EventFilter,
    /// Only of this event.
    pub event: Option<EventId>,
    /// Only what comes behind this one in the list: what is older.
    pub after: Option<DeliveryId>,
    /// At most so many.
    pub limit: usize,
}

/// A delivery in a list.
#[derive(Clone, Debug)]
pub struct DeliveryItem {
    /// Its event, as a list shows it and without deliveries.
    pub event: Arc<EventDetail>,
    /// Where it stands.
    pub state: DeliveryState,
}

/// A page of deliveries, newest first. It may hold fewer than asked for and still not be the last.
#[derive(Clone, Debug, Default)]
pub struct DeliveryPage {
    /// The deliveries.
    pub items: Vec<DeliveryItem>,
    /// Where the next page begins; `None` when there is none.
    pub next: Option<DeliveryId>,
    /// How many events were looked through.
    pub scanned: u64,
    /// There are older events that were not looked through.
    pub cut: bool,
}

/// Whether a page takes more.
#[derive(PartialEq, Eq)]
enum Room {
    Left,
    Full,
}

impl Engine {
    /// Deliveries of an account, newest first.
    pub async fn deliveries(&self, query: DeliveryQuery) -> Result<DeliveryPage, StoreError> {
        let mut page = self.deliveries_as_stored(query).await?;
        let states = page.items.iter_mut().map(|item| &mut item.state);
        self.lay_over_each(states.filter(|state| state.next_attempt_at.is_some()).collect()).await?;
        Ok(page)
    }

    async fn deliveries_as_stored(&self, mut query: DeliveryQuery) -> Result<DeliveryPage, StoreError> {
        let activity = self.activity_of(Vec::new()).await?;
        query.filter.since = query.filter.since.max(self.shown_since(query.account));
        let mut page = DeliveryPage::default();
        if let Some(id) = query.event {
            let found = self.store.event(query.account, id).await?;
            if let Some(event) = found.filter(|event| query.fits_event(event)) {
                page.take(event, &query, &activity);
            }
            return Ok(page);
        }
        // Ids of events and of deliveries are of one kind: a delivery's are above its event's and below the next.
        let mut behind = query.after.map_or(u64::MAX >> 1, DeliveryId::as_u64);
        let mut passed = 0;
        loop {
            let events = self.events_behind(&query, behind, &activity).await?;
            page.scanned += events.scanned.max(events.items.len() as u64);
            passed += events.items.len();
            for event in events.items {
                if page.take(event, &query, &activity) == Room::Full {
                    return Ok(page);
                }
            }
            let Some(next) = events.next else { return Ok(page) };
            behind = next.as_u64();
            if events.cut || passed >= PASSED_MAX {
                page.next = Some(DeliveryId::from_u64(behind));
                page.cut = true;
                return Ok(page);
            }
        }
    }

    async fn events_behind(
        &self,
        query: &DeliveryQuery,
        behind: u64,
        activity: &Activity,
    ) -> Result<EventPage, StoreError> {
        let (account, filter) = (query.account, query.filter.clone());
        let (after, fan_out) = (Some(EventId::from_u64(behind)), FanOut::All);
        let asked = EventQuery { account, filter, after, limit: STEP, offset: 0, fan_out };
        match query.filter.delivery_status {
            // The store does not know what is in flight.
            Some(DeliveryStatus::Delivering) => self.delivering(asked, activity).await,
            _ => self.store.events(asked).await,
        }
    }
}

impl DeliveryQuery {
    /// Whether an event that is known whole is one of those meant; its deliveries are chosen apart.
    fn fits_event(&self, event: &EventDetail) -> bool {
        self.filter.fits(event.facts()) && self.filter.fits_body(&event.content.body)
    }
}

impl DeliveryPage {
    /// Takes in what is asked for of an event's deliveries, as far as there is room.
    fn take(&mut self, mut event: EventDetail, query: &DeliveryQuery, activity: &Activity) -> Room {
        overlay(&mut event, activity);
        let mut states = std::mem::take(&mut event.deliveries);
        let asked_for = |state: &DeliveryState| {
            query.after.is_none_or(|after| state.id < after) && query.filter.fits_delivery(state)
        };
        states.retain(asked_for);
        states.sort_unstable_by_key(|state| std::cmp::Reverse(state.id));
        let event = Arc::new(event);
        for state in states {
            if self.items.len() == query.limit {
                self.next = self.items.last().map(|last| last.state.id);
                return Room::Full;
            }
            self.items.push(DeliveryItem { event: Arc::clone(&event), state });
        }
        Room::Left
    }
}
