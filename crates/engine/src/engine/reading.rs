//! Reads the past, with what is in flight laid over it.

use super::{Activity, Engine};
use crate::dead_letters::DeadLetters;
use crate::replay::Replays;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::id::{AccountId, EventId};
use postrider_store::{EventDetail, EventPage, EventQuery, EventStatus, StoreError};
use std::sync::Arc;

impl Engine {
    /// What was given up on.
    pub fn dead_letters(&self) -> &Arc<DeadLetters> {
        self.replays.letters()
    }

    /// The jobs that send it again.
    pub fn replays(&self) -> &Arc<Replays> {
        &self.replays
    }

    /// Events of an account, newest first.
    pub async fn events(&self, query: EventQuery) -> Result<EventPage, StoreError> {
        let activity = self.activity().await;
        let wanted = query.status;
        // The store does not know what is in flight: to it such a delivery is queued or due again.
        let mut page = match wanted {
            Some(EventStatus::Of(DeliveryStatus::Delivering)) => self.delivering(query, &activity).await?,
            _ => self.store.events(query).await?,
        };
        page.items.iter_mut().for_each(|event| overlay(event, &activity));
        if let Some(status) = wanted {
            page.items.retain(|event| EventStatus::of(event) == status);
        }
        Ok(page)
    }

    async fn delivering(&self, query: EventQuery, activity: &Activity) -> Result<EventPage, StoreError> {
        let mut events: Vec<EventId> = activity.in_flight_events.iter().copied().collect();
        events.sort_unstable_by(|a, b| b.cmp(a));
        let mut page = EventPage::default();
        for id in events {
            let Some(event) = self.store.event(query.account, id).await? else { continue };
            let other_source = query.source.is_some_and(|source| source != event.source);
            if other_source || query.before.is_some_and(|before| id >= before) {
                continue;
            }
            page.total += 1;
            if page.total > query.offset as u64 && page.items.len() <= query.limit {
                page.items.push(event);
            }
        }
        page.cut(query.limit);
        Ok(page)
    }

    /// One event with all that became of it.
    pub async fn event(&self, account: AccountId, event: EventId) -> Result<Option<EventDetail>, StoreError> {
        let activity = self.activity().await;
        let mut found = self.store.event(account, event).await?;
        if let Some(event) = &mut found {
            overlay(event, &activity);
        }
        Ok(found)
    }
}

fn overlay(event: &mut EventDetail, activity: &Activity) {
    for delivery in &mut event.deliveries {
        if activity.in_flight.contains(&delivery.id) {
            delivery.status = DeliveryStatus::Delivering;
            delivery.next_attempt_at = None;
        }
    }
}
