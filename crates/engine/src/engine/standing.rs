//! What was counted, with what is in flight beside it.

use super::Engine;
use postrider_core::id::AccountId;
use postrider_store::{Ring, SeriesPoint, Stats, StoreError};

/// Where an account stands.
#[derive(Clone, Debug)]
pub struct Standing {
    /// What was counted.
    pub stats: Stats,
    /// Of those that count as queued, how many are in flight.
    pub delivering_first: i64,
    /// Of those that count as due again, how many are in flight.
    pub delivering_again: i64,
}

impl Engine {
    /// What an account came to, or all of them together.
    pub async fn stats(&self, account: Option<AccountId>) -> Result<Stats, StoreError> {
        self.store.stats(account).await
    }

    /// What happened when: all points of a ring that are not older than it is long.
    pub async fn series(&self, ring: Ring) -> Result<Vec<SeriesPoint>, StoreError> {
        let since = (ring.point_at(self.clock.now()) + 1).saturating_sub(ring.points());
        self.store.series(ring, since).await
    }

    /// Where an account stands.
    pub async fn standing(&self, account: AccountId) -> Result<Standing, StoreError> {
        let activity = self.activity_of(Vec::new()).await?;
        let mut standing = Standing {
            stats: self.store.stats(Some(account)).await?,
            delivering_first: 0,
            delivering_again: 0,
        };
        let catalog = self.catalog();
        for attempt in &activity.attempts {
            if catalog.destination(account, attempt.destination).is_some() {
                match attempt.attempts {
                    0 => standing.delivering_first += 1,
                    _ => standing.delivering_again += 1,
                }
            }
        }
        Ok(standing)
    }
}
