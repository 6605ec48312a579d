//! Reading back what is in memory.

use super::data::Data;
use crate::attempt::Attempt;
use crate::batch::NewEvent;
use crate::event::{DeliveryState, EventContent, EventDetail};
use crate::fan_out::LeftOut;
use crate::query::{EventPage, EventQuery};
use crate::stats::Stats;
use postrider_core::id::{AccountId, AttemptId, DeliveryId, EventId};
use postrider_core::limits::{ATTEMPTS_SHOWN_MAX, LIST_BODY_BYTES_MAX};
use postrider_core::map::IdMap;
use postrider_core::outcome::DeathReason;

impl Data {
    pub(super) fn event(&self, account: AccountId, event: EventId) -> Option<EventDetail> {
        let found = self.events.get(&event).filter(|event| event.content.account == account)?;
        Some(self.detail(found, None))
    }

    pub(super) fn event_of(&self, account: AccountId, delivery: DeliveryId) -> Option<EventDetail> {
        let owes = |event: &&NewEvent| event.deliveries.iter().any(|owed| owed.id == delivery);
        let found = self.events.values().find(owes).filter(|event| event.content.account == account)?;
        Some(self.detail(found, Some(delivery)))
    }

    /// Looks through all of them, so a page is never cut.
    pub(super) fn events(&self, query: &EventQuery) -> EventPage {
        let of_account = |event: &&NewEvent| event.content.account == query.account;
        let behind = |event: &&NewEvent| query.after.is_none_or(|after| event.id < after);
        let all = self.events.values().rev().filter(of_account);
        let looked_at: Vec<EventDetail> =
            all.clone().filter(behind).map(|event| self.detail(event, None)).collect();
        let scanned = if query.filter.is_empty() { 0 } else { looked_at.len() as u64 };
        let matching: Vec<EventDetail> =
            looked_at.into_iter().filter(|event| query.filter.matches(event)).collect();
        let total = if query.filter.is_empty() { all.count() } else { matching.len() } as u64;
        let mut page = EventPage { total, scanned, ..EventPage::default() };
        for mut event in matching.into_iter().skip(query.offset) {
            if !page.has_room(query) {
                page.next = page.items.last().map(|event| event.id);
                break;
            }
            event.content.body.truncate(LIST_BODY_BYTES_MAX);
            event.attempts.clear();
            event.show(&query.fan_out, &query.filter);
            page.items.push(event);
        }
        page
    }

    /// With the last attempts of one of its deliveries, or of all.
    fn detail(&self, event: &NewEvent, delivery: Option<DeliveryId>) -> EventDetail {
        let of_it = (event.id, AttemptId::from_u64(0))..=(event.id, AttemptId::from_u64(u64::MAX));
        let mut attempts: Vec<Attempt> =
            self.attempts.range(of_it).map(|(_, attempt)| attempt.clone()).collect();
        let letters = event.deliveries.iter().filter_map(|owed| self.dead_letters.get(&owed.id));
        let dead: IdMap<DeliveryId, DeathReason> =
            letters.map(|buried| (buried.letter.delivery, buried.letter.reason)).collect();
        let followed = attempts.iter().map(|attempt| (attempt.delivery, attempt.next));
        let deliveries = DeliveryState::derive(&event.deliveries, event.content.due(), followed, &dead);
        attempts.retain(|attempt| delivery.is_none_or(|delivery| attempt.delivery == delivery));
        attempts.drain(..attempts.len().saturating_sub(ATTEMPTS_SHOWN_MAX));
        EventDetail {
            id: event.id,
            external_id: event.external_id.clone(),
            content: EventContent::clone(&event.content),
            body_bytes: event.content.body.len(),
            deliveries,
            left_out: LeftOut::default(),
            attempts,
        }
    }

    pub(super) fn stats(&self, account: Option<AccountId>) -> Stats {
        let mut stats = Stats::default();
        for ((_, day), counts) in self.counts.iter().filter(|((of, _), _)| account.is_none_or(|id| *of == id))
        {
            stats.add(*day, *counts);
        }
        stats
    }
}
