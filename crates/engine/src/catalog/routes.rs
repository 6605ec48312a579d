//! The routes in memory: by their id, and those of an account in the order of their making.

use crate::routing::Plan;
use postrider_core::id::{AccountId, RouteId};
use postrider_core::map::IdMap;
use postrider_store::Route;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Routes {
    by_id: IdMap<RouteId, Arc<Plan>>,
    /// In order of their ids, which is that of their making, so that a fan-out is the same every time, and a change
    /// finds its place without a look at each.
    by_account: IdMap<AccountId, Vec<Arc<Plan>>>,
    /// Those that have a transform, apart: it is looked for with every attempt, and mostly there are none.
    transforming: IdMap<RouteId, Arc<Plan>>,
}

impl Routes {
    pub(super) fn get(&self, id: RouteId) -> Option<&Arc<Plan>> {
        self.by_id.get(&id)
    }

    /// Those of an account, oldest first.
    pub(super) fn of_account(&self, account: AccountId) -> impl Iterator<Item = &Arc<Plan>> {
        self.by_account.get(&account).into_iter().flatten()
    }

    /// One that has a transform.
    pub(super) fn transforming(&self, id: RouteId) -> Option<&Arc<Plan>> {
        self.transforming.get(&id)
    }

    pub(super) fn put(&mut self, plan: Arc<Plan>) {
        let of_account = self.by_account.entry(plan.route.account).or_default();
        match place(of_account, plan.route.id) {
            Ok(known) => of_account[known] = Arc::clone(&plan),
            Err(between) => of_account.insert(between, Arc::clone(&plan)),
        }
        match plan.transforms() {
            true => drop(self.transforming.insert(plan.route.id, Arc::clone(&plan))),
            false => drop(self.transforming.remove(&plan.route.id)),
        }
        self.by_id.insert(plan.route.id, plan);
    }

    pub(super) fn remove(&mut self, id: RouteId) {
        let Some(gone) = self.by_id.remove(&id) else { return };
        self.transforming.remove(&id);
        let of_account = self.by_account.entry(gone.route.account).or_default();
        if let Ok(known) = place(of_account, id) {
            of_account.remove(known);
        }
    }

    /// Those of an account of which this holds.
    pub(super) fn remove_those(&mut self, account: AccountId, gone: impl Fn(&Route) -> bool) {
        let Routes { by_id, by_account, transforming } = self;
        by_account.entry(account).or_default().retain(|plan| {
            let stays = !gone(&plan.route);
            if !stays {
                by_id.remove(&plan.route.id);
                transforming.remove(&plan.route.id);
            }
            stays
        });
    }
}

/// Where a route is, or would be.
fn place(plans: &[Arc<Plan>], id: RouteId) -> Result<usize, usize> {
    plans.binary_search_by_key(&id, |plan| plan.route.id)
}
