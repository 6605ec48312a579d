//! Events that repeat another. No store lists them apart, since they are few: they are found among the newest.

use super::Engine;
use postrider_core::id::EventId;
use postrider_store::{EventPage, EventQuery, StoreError};

/// Events read at once.
const STEP: usize = 50;
/// Events that are looked through for one page.
const LOOKED_AT_MAX: u64 = 2000;

impl Engine {
    /// Those of an account that repeat another, newest first; of the others none, whatever else fits.
    pub async fn replayed(&self, query: EventQuery) -> Result<EventPage, StoreError> {
        let mut page = EventPage::default();
        let mut more = false;
        let mut behind = query.after.unwrap_or(EventId::from_u64(u64::MAX >> 1));
        // From a cursor on nobody asks for a total, so such a look ends with its page.
        while !(more && query.after.is_some()) {
            let asked = EventQuery { after: Some(behind), limit: STEP, offset: 0, ..query.clone() };
            let found = self.events(asked).await?;
            page.scanned += found.scanned.max(found.items.len() as u64);
            for event in found.items.into_iter().filter(|event| event.content.replay_of.is_some()) {
                page.total += 1;
                let wanted = page.total > query.offset as u64;
                let room = page.items.len() < query.limit;
                more |= wanted && !room;
                if wanted && room {
                    page.items.push(event);
                }
            }
            let Some(next) = found.next else { break };
            behind = next;
            if page.scanned >= LOOKED_AT_MAX {
                page.cut = true;
                break;
            }
        }
        page.next = match more {
            true => page.items.last().map(|event| event.id),
            false => page.cut.then_some(behind),
        };
        Ok(page)
    }
}
