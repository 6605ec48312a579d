//! How attempts went at destinations, over all nodes: each counts its own and tells the others.

use super::Engine;
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::map::IdMap;
use postrider_store::{Health, StoreError, ToldHealth};

/// Destinations that the others are told of in one round: an hour of each is some kB, so that a node writes less than a
/// MB a second however many it sends to. Where attempts end at more of them in a second they take turns.
const TOLD_MAX: usize = 250;

impl Engine {
    /// How attempts went at these destinations within the last hour, on whichever node; those that were not sent to are
    /// left out.
    pub async fn health_of(
        &self,
        ids: Vec<DestinationId>,
    ) -> Result<Vec<(DestinationId, Health)>, StoreError> {
        let now = self.clock.now();
        let own = self.meters.destination_health.of(&ids, now);
        if !self.store.is_shared() {
            return Ok(own);
        }
        let mut all: IdMap<DestinationId, Health> = own.into_iter().collect();
        for (id, health) in self.store.health_elsewhere(ids).await? {
            all.entry(id).or_default().add(&health);
        }
        all.values_mut().for_each(|health| health.forget_before_hour_of(now));
        Ok(all.into_iter().collect())
    }

    /// Those destinations of an account that most attempts were made at within the last hour, at most so many of this
    /// node and as many of the others.
    pub async fn busiest_destinations(
        &self,
        account: AccountId,
        most: usize,
    ) -> Result<Vec<DestinationId>, StoreError> {
        let of_account: Vec<_> = self.catalog().destinations(account).iter().map(|found| found.id).collect();
        let mut busiest = self.meters.destination_health.busiest(of_account.into_iter(), most);
        busiest.extend(self.store.busiest_elsewhere(account, most).await?);
        busiest.sort_unstable();
        busiest.dedup();
        Ok(busiest)
    }

    /// Tells the others how attempts went where some have ended since they were told.
    pub(super) async fn tell_health(&self) {
        let counted = &self.meters.destination_health;
        let untold = counted.take_untold(TOLD_MAX, self.clock.now());
        let ids: Vec<DestinationId> = untold.iter().map(|(id, _)| *id).collect();
        let told = self.with_accounts(untold);
        if told.is_empty() {
            return;
        }
        if let Err(error) = self.store.tell_health(told).await {
            tracing::debug!(%error, "failed to send attempt figures to the other nodes");
            counted.were_not_told(&ids);
        }
    }

    /// One that was deleted meanwhile is shown nowhere.
    fn with_accounts(&self, counted: Vec<(DestinationId, Health)>) -> Vec<ToldHealth> {
        let catalog = self.catalog();
        let told = |(destination, health)| {
            let account = catalog.any_destination(destination)?.account;
            Some(ToldHealth { destination, account, health })
        };
        counted.into_iter().filter_map(told).collect()
    }
}
