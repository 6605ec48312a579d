//! Whether what could have gone has gone: nothing is late while there is room, and nothing starves while there is none.

use super::Ledger;
use super::line_up::RANKS;
use super::terms::Waits;
use crate::breach::Breach;
use postrider_core::delivery::Priority;
use postrider_core::id::DestinationId;
use postrider_core::time::Timestamp;
use std::time::Duration;

/// However urgent the others are: three promotions make anything critical, and then its round comes.
const ROUND_MAX: Duration = Duration::from_secs(3600);
const PROMOTIONS: u32 = 3;

impl Ledger {
    /// Before time passes: what is due and has nothing in its way must have been sent. Destinations that wait
    /// for something outside of the scheduler, which have no `limit`, are left out.
    pub(crate) fn check_nothing_is_late(
        &mut self,
        now: Timestamp,
        limit: impl Fn(DestinationId) -> Option<usize>,
    ) -> Result<(), Breach> {
        if self.stopping {
            return Ok(());
        }
        self.note_owed(now);
        self.note_waiting(now, limit)?;
        for (id, terms) in &self.destinations {
            let waiting =
                Priority::ALL.into_iter().filter_map(|band| Some((band, terms.waits[band.index()]?)));
            for (band, waits) in waiting {
                let first = self.owed.get(id).and_then(|owed| owed.first_due(band, now, terms.ranks_open));
                let Some((due, delivery)) = first else { continue };
                if self.is_open_to(band, due, now) && !self.may_be_full(terms.account, now, (band, due)) {
                    return Err(Breach::Late { delivery, due });
                }
                if self.patience().is_some_and(|patience| now.since(waits.since) > patience) {
                    return Err(Breach::Starves { delivery, since: waits.since });
                }
            }
        }
        Ok(())
    }

    fn patience(&self) -> Option<Duration> {
        self.options.promotion_age.map(|age| age * PROMOTIONS + ROUND_MAX)
    }

    /// Brings up to date who waits for nothing but a slot or the cap of its account.
    pub(super) fn note_waiting(
        &mut self,
        now: Timestamp,
        limit: impl Fn(DestinationId) -> Option<usize>,
    ) -> Result<(), Breach> {
        let ids: Vec<DestinationId> = self.destinations.keys().copied().collect();
        for id in ids {
            let limit = if self.due_bands(id, now, RANKS).contains(&true) { limit(id) } else { None };
            let ranks_open = limit.map_or(RANKS, |limit| self.ranks_open(id, limit));
            let due = self.due_bands(id, now, ranks_open);
            let in_flight = self.slots_used(id);
            let Some(terms) = self.destinations.get_mut(&id) else { continue };
            terms.ranks_open = ranks_open;
            if let Some(limit) = limit {
                terms.check_limit(id, limit)?;
            }
            let open = limit.is_some_and(|limit| terms.lets_pass(now, in_flight, limit));
            for (waits, due) in terms.waits.iter_mut().zip(due) {
                match (open && due, *waits) {
                    (false, _) => *waits = None,
                    (true, None) => *waits = Some(Waits { since: now, passed_over: 0 }),
                    (true, Some(_)) => {}
                }
            }
        }
        Ok(())
    }

    /// The priorities of which something is due in so many ranks.
    fn due_bands(&self, id: DestinationId, now: Timestamp, ranks: usize) -> [bool; Priority::COUNT] {
        let owed = self.owed.get(&id);
        Priority::ALL.map(|band| owed.is_some_and(|owed| owed.first_due(band, now, ranks).is_some()))
    }
}
