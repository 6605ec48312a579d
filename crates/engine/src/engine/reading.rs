//! Reads the past, with what is in flight laid over it.

use super::{Activity, Engine};
use crate::dead_letters::DeadLetters;
use crate::replay::Replays;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::id::{AccountId, DeliveryId, EventId};
use postrider_core::limits::LIST_BODY_BYTES_MAX;
use postrider_core::time::Timestamp;
use postrider_store::{
    AuditPage, AuditQuery, AuditRecord, EventDetail, EventPage, EventQuery, EventStatus, FanOut, StoreError,
};
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

    /// Who changed what.
    pub async fn audit(&self, query: AuditQuery) -> Result<AuditPage, StoreError> {
        self.store.audit(query).await
    }

    /// Notes a change that is not one of the configuration.
    pub async fn record(&self, record: AuditRecord) -> Result<(), StoreError> {
        self.store.record(record).await.inspect_err(|error| self.fault.note(error))
    }

    /// Events of an account, newest first, with the first of their deliveries.
    pub async fn events(&self, mut query: EventQuery) -> Result<EventPage, StoreError> {
        let activity = self.activity_of(Vec::new()).await?;
        query.filter.since = query.filter.since.max(self.shown_since(query.account));
        query.fan_out = FanOut::First(Arc::new(activity.in_flight.clone()));
        let wanted = query.filter.clone();
        // The store does not know what is in flight: to it such a delivery is queued or due again.
        let delivering = wanted.delivery_status == Some(DeliveryStatus::Delivering);
        let mut page = match delivering {
            true => self.delivering(query, &activity).await?,
            false => self.store.events(query).await?,
        };
        page.items.iter_mut().for_each(|event| overlay(event, &activity));
        page.items.retain(|event| wanted.status.is_none_or(|status| EventStatus::of(event) == status));
        // Of those that a store shows one is asked for, unless it is in flight by now.
        let is_meant = |event: &EventDetail| event.deliveries.iter().any(|state| wanted.fits_delivery(state));
        page.items.retain(|event| wanted.delivery_status.is_none() || is_meant(event));
        self.lay_over_next_attempts(&mut page.items).await?;
        Ok(page)
    }

    pub(super) async fn delivering(
        &self,
        query: EventQuery,
        activity: &Activity,
    ) -> Result<EventPage, StoreError> {
        let mut events: Vec<EventId> = activity.in_flight_events.iter().copied().collect();
        events.sort_unstable_by(|a, b| b.cmp(a));
        let mut page = EventPage::default();
        for id in events {
            let Some(mut event) = self.store.event(query.account, id).await? else { continue };
            overlay(&mut event, activity);
            page.scanned += 1;
            let behind = query.after.is_none_or(|after| id < after);
            if !behind || !query.filter.matches(&event) {
                continue;
            }
            page.total += 1;
            if page.total <= query.offset as u64 {
                continue;
            }
            if page.has_room(&query) {
                event.content.body.truncate(LIST_BODY_BYTES_MAX);
                event.attempts.clear();
                event.show(&query.fan_out, &query.filter);
                page.items.push(event);
            } else {
                page.next = page.items.last().map(|last| last.id);
            }
        }
        Ok(page)
    }

    pub(super) fn shown_since(&self, account: AccountId) -> Option<Timestamp> {
        self.catalog().shown_since(account, self.clock.now())
    }

    /// One event with all that became of it.
    pub async fn event(&self, account: AccountId, event: EventId) -> Result<Option<EventDetail>, StoreError> {
        let activity = self.activity_of(Vec::new()).await?;
        let found = self.store.event(account, event).await?;
        self.shown(account, found, &activity).await
    }

    /// The event of a delivery with all that became of it.
    pub async fn event_of(
        &self,
        account: AccountId,
        delivery: DeliveryId,
    ) -> Result<Option<EventDetail>, StoreError> {
        let activity = self.activity_of(Vec::new()).await?;
        let found = self.store.event_of(account, delivery).await?;
        self.shown(account, found, &activity).await
    }

    /// An event as its account is shown it, if it is.
    async fn shown(
        &self,
        account: AccountId,
        found: Option<EventDetail>,
        activity: &Activity,
    ) -> Result<Option<EventDetail>, StoreError> {
        let since = self.shown_since(account);
        let is_shown = |event: &EventDetail| since.is_none_or(|since| event.content.received_at >= since);
        let Some(mut event) = found.filter(is_shown) else { return Ok(None) };
        overlay(&mut event, activity);
        self.lay_over_next_attempts(std::slice::from_mut(&mut event)).await?;
        Ok(Some(event))
    }
}

pub(super) fn overlay(event: &mut EventDetail, activity: &Activity) {
    event.deliveries.iter_mut().for_each(|delivery| delivery.lay_over(&activity.in_flight));
}
