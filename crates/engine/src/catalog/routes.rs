//! The routes in memory: by their id, and those of an account and of a source in the order of their making.

use crate::routing::Plan;
use postrider_core::id::{AccountId, RouteId, SourceId};
use postrider_core::map::IdMap;
use postrider_store::Route;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Whose events a route takes: those of one source, or all of its account.
type From = (AccountId, Option<SourceId>);

#[derive(Default)]
pub(super) struct Routes {
    by_id: IdMap<RouteId, Arc<Plan>>,
    /// In order of their ids, which is that of their making, so that a fan-out is the same every time, and a change
    /// finds its place without a look at each.
    by_account: IdMap<AccountId, Vec<Arc<Plan>>>,
    /// In the same order. An event is held against these alone: an account may have a source for each of its customers.
    by_source: HashMap<From, Vec<Arc<Plan>>>,
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

    /// Those that may take an event of this source, or of none, oldest first.
    pub(super) fn of_source(
        &self,
        account: AccountId,
        source: Option<SourceId>,
    ) -> impl Iterator<Item = &Arc<Plan>> {
        let of = |from: From| self.by_source.get(&from).map_or(&[][..], Vec::as_slice);
        merged(of((account, None)), source.map_or(&[][..], |source| of((account, Some(source)))))
    }

    /// One that has a transform.
    pub(super) fn transforming(&self, id: RouteId) -> Option<&Arc<Plan>> {
        self.transforming.get(&id)
    }

    pub(super) fn put(&mut self, plan: Arc<Plan>) {
        // One that is known may have taken the events of another source.
        self.remove(plan.route.id);
        insert(self.by_account.entry(plan.route.account).or_default(), &plan);
        insert(self.by_source.entry(from(&plan.route)).or_default(), &plan);
        if plan.transforms() {
            self.transforming.insert(plan.route.id, Arc::clone(&plan));
        }
        self.by_id.insert(plan.route.id, plan);
    }

    pub(super) fn remove(&mut self, id: RouteId) {
        let Some(gone) = self.by_id.remove(&id) else { return };
        self.transforming.remove(&id);
        let of_account = self.by_account.get_mut(&gone.route.account);
        for plans in of_account.into_iter().chain(self.by_source.get_mut(&from(&gone.route))) {
            if let Ok(known) = place(plans, id) {
                plans.remove(known);
            }
        }
    }

    /// Those of an account of which this holds.
    pub(super) fn remove_those(&mut self, account: AccountId, gone: impl Fn(&Route) -> bool) {
        let Routes { by_id, by_account, by_source, transforming } = self;
        let mut touched = HashSet::new();
        by_account.entry(account).or_default().retain(|plan| {
            let stays = !gone(&plan.route);
            if !stays {
                by_id.remove(&plan.route.id);
                transforming.remove(&plan.route.id);
                touched.insert(from(&plan.route));
            }
            stays
        });
        for from in touched {
            let plans = by_source.entry(from).or_default();
            plans.retain(|plan| !gone(&plan.route));
            if plans.is_empty() {
                by_source.remove(&from);
            }
        }
    }
}

fn from(route: &Route) -> From {
    (route.account, route.source)
}

fn insert(plans: &mut Vec<Arc<Plan>>, plan: &Arc<Plan>) {
    match place(plans, plan.route.id) {
        Ok(known) => plans[known] = Arc::clone(plan),
        Err(between) => plans.insert(between, Arc::clone(plan)),
    }
}

/// Where a route is, or would be.
fn place(plans: &[Arc<Plan>], id: RouteId) -> Result<usize, usize> {
    plans.binary_search_by_key(&id, |plan| plan.route.id)
}

/// Both, oldest first.
fn merged<'a>(mut left: &'a [Arc<Plan>], mut right: &'a [Arc<Plan>]) -> impl Iterator<Item = &'a Arc<Plan>> {
    std::iter::from_fn(move || {
        let is_left = match (left.first(), right.first()) {
            (Some(left), Some(right)) => left.route.id < right.route.id,
            (left, _) => left.is_some(),
        };
        let side = if is_left { &mut left } else { &mut right };
        let (first, rest) = side.split_first()?;
        *side = rest;
        Some(first)
    })
}
