//! Producers: mostly quiet, sometimes a burst, and trouble tends to come with it.

use crate::setup::{SOURCES, owner};
use crate::world::{Happening, World};
use bytes::Bytes;
use postrider_core::delivery::OrderKey;
use postrider_core::destination::Ordering;
use postrider_core::id::{DeliveryId, EventId, SourceId};
use postrider_store::{EventContent, NewDelivery, NewEvent, Origin, Route, SendWindow};
use std::sync::Arc;
use std::time::Duration;

impl World {
    pub(crate) fn produce(&mut self) {
        if self.is_calm() {
            return;
        }
        let until_next = match self.random.between(0, 99) {
            0..28 => self.random.ms(0, 100),
            28..55 => self.random.ms(100, 10_000),
            55..75 => self.random.ms(10_000, 900_000),
            _ => self.random.ms(900_000, 4 * 3_600_000),
        };
        self.plan(until_next, Happening::Produce);
        self.bring_trouble();
        let count = match self.random.between(0, 79) {
            0 => self.random.between(150, 300),
            1..8 => self.random.between(5, 40),
            _ => self.random.between(1, 3),
        };
        self.offer(count);
    }

    /// Some more events come soon: much goes wrong only when two things happen at once.
    pub(crate) fn plan_offer(&mut self) {
        let after = self.random.moment();
        let count = self.random.between(1, 3);
        self.plan(after, Happening::Offer(count));
    }

    /// Events reach a gateway that is up; they are accepted once they are written.
    pub(crate) fn offer(&mut self, count: u64) {
        let source = SourceId::from_u64(self.random.between(1, SOURCES));
        let up = self.gateway.as_ref().is_some_and(|gateway| !gateway.stopping);
        if !up || self.is_calm() {
            return;
        }
        for _ in 0..count {
            let event = self.event(source);
            if let Some(gateway) = &mut self.gateway {
                gateway.events.extend(event);
            }
        }
        self.note(|| format!("{count} events come to {source}"));
        let after: Duration = self.random.moment();
        self.plan_commit(after);
    }

    fn event(&mut self, source: SourceId) -> Option<NewEvent> {
        let now = self.now;
        let account = owner(source.as_u64(), self.accounts);
        // Some have nothing to be ordered by.
        let key = if self.random.one_in(10) { 0 } else { self.random.between(1, self.order_keys) };
        let gateway = self.gateway.as_mut()?;
        let id = EventId::from_u64(gateway.ids.next(now));
        let own = |route: &&Route| route.account == account && route.source.is_none_or(|from| from == source);
        let wanted = gateway.routes.iter().filter(own);
        let deliveries = wanted.map(|route| NewDelivery {
            id: DeliveryId::from_u64(gateway.ids.next(now)),
            destination: route.destination,
            route: route.id,
            priority: route.priority,
            order: match gateway.destinations[&route.destination].ordering {
                Ordering::None => None,
                Ordering::Strict => Some(OrderKey::WHOLE),
                Ordering::ByKey => Some(OrderKey::from_u64(key)),
            },
        });
        let deliveries = deliveries.collect();
        let content = EventContent {
            account,
            origin: Origin::Source(source),
            headers: Default::default(),
            body: Bytes::copy_from_slice(&id.as_u64().to_be_bytes()),
            event_type: None,
            received_at: now,
            window: SendWindow::default(),
            replay_of: None,
        };
        Some(NewEvent { id, external_id: None, content: Arc::new(content), idempotency: None, deliveries })
    }
}
