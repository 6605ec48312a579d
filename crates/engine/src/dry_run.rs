//! What the routes of an account would make of an event. Nothing is stored, nothing is sent.

use crate::catalog::Catalog;
use crate::engine::Engine;
use crate::expression::{Facts, Failure};
use crate::routing::{Mismatch, Order, Plan};
use crate::schema::Mismatch as Mismatched;
use crate::send::{Preview, Target, preview};
use postrider_core::delivery::Priority;
use postrider_core::id::{AccountId, DestinationId, EventId, RouteId};
use postrider_core::map::IdMap;
use postrider_store::{EventContent, Route};
use std::sync::Arc;

/// A route and what it makes of the event.
#[derive(Debug)]
pub struct Judged {
    /// Which.
    pub route: Arc<Route>,
    /// What it makes of it.
    pub verdict: Verdict,
}

/// What a route makes of an event.
#[derive(Debug)]
pub enum Verdict {
    /// It is not active.
    Inactive,
    /// It takes events of another source.
    OtherSource,
    /// Its pattern does not take the type.
    OtherType,
    /// Its filter does not hold.
    FilterFalse,
    /// Its filter fails for this event, which counts as false.
    FilterFailed(Failure),
    /// A route before it takes the event to the same destination.
    AlreadyOwed(RouteId),
    /// It takes the event.
    Takes(Box<Taking>),
}

/// How a route takes an event.
#[derive(Debug)]
pub struct Taking {
    /// How urgent the delivery would be.
    pub priority: Priority,
    /// Which of the route's rules said so, from 0; its own priority when none did.
    pub rule: Option<usize>,
    /// What the delivery would be ordered by, when its destination is ordered by a key and the event has one.
    pub ordering_key: Option<String>,
    /// What would be sent, or why it would not be.
    pub request: Result<Preview, String>,
}

/// What is looked at after the configuration is let go.
struct Candidate {
    plan: Arc<Plan>,
    order: Order,
    target: Option<Arc<Target>>,
}

impl Engine {
    /// Tries an event on the routes of its account, or on one route alone that is not made yet.
    pub fn dry_run(&self, content: &EventContent, alone: Option<Route>) -> Vec<Judged> {
        // Compiled before and evaluated after the configuration is held: both take long.
        let alone = alone.map(|route| Arc::new(Plan::new(route)));
        let (candidates, source) = {
            let catalog = self.catalog();
            let source = content.origin.source().and_then(|id| catalog.source(content.account, id));
            let source = source.map(|source| source.name.clone());
            (catalog.candidates(content.account, alone), source.unwrap_or_default())
        };
        let facts = Facts::new(content.event_type.as_ref(), &source, &content.headers, &content.body);
        let mut owed = IdMap::default();
        let judge = |candidate: Candidate| {
            let verdict = self.judge(&candidate, content, &source, &facts, &mut owed);
            Judged { route: Arc::clone(&candidate.plan.route), verdict }
        };
        candidates.into_iter().map(judge).collect()
    }

    /// Why an event would be refused by the schema of its type.
    pub fn schema_mismatch(&self, content: &EventContent) -> Option<Mismatched> {
        let schema = self.catalog().event_types().schema(content.account, content.event_type.as_ref());
        schema?.check(&content.body).err()
    }

    fn judge(
        &self,
        candidate: &Candidate,
        content: &EventContent,
        source: &str,
        facts: &Facts<'_>,
        owed: &mut IdMap<DestinationId, RouteId>,
    ) -> Verdict {
        let (plan, route) = (&candidate.plan, &candidate.plan.route);
        match plan.mismatch(content.origin.source(), content.event_type.as_ref()) {
            Some(Mismatch::Inactive) => return Verdict::Inactive,
            Some(Mismatch::Source) => return Verdict::OtherSource,
            Some(Mismatch::Type) => return Verdict::OtherType,
            None => {}
        }
        match plan.filter.as_ref().map_or(Ok(true), |filter| filter.judge(facts)) {
            Ok(true) => {}
            Ok(false) => return Verdict::FilterFalse,
            Err(failure) => return Verdict::FilterFailed(failure),
        }
        if let Some(first) = owed.get(&route.destination) {
            return Verdict::AlreadyOwed(*first);
        }
        owed.insert(route.destination, route.id);
        let (priority, rule) = plan.priority(facts);
        let ordering_key = candidate.order.key_text(facts);
        Verdict::Takes(Box::new(Taking {
            priority,
            rule,
            ordering_key,
            request: self.request(candidate, content, source),
        }))
    }

    fn request(
        &self,
        candidate: &Candidate,
        content: &EventContent,
        source: &str,
    ) -> Result<Preview, String> {
        let target = candidate.target.as_ref().ok_or("there is no such destination")?;
        let rewritten = candidate.plan.rewritten(content, source);
        let rewritten = rewritten.map_err(|failure| format!("the transform fails: {failure}"))?;
        preview(target, &rewritten, EventId::from_u64(0), self.clock())
    }
}

impl Catalog {
    fn candidates(&self, account: AccountId, alone: Option<Arc<Plan>>) -> Vec<Candidate> {
        let plans = alone.map_or_else(|| self.plans(account).cloned().collect(), |plan| vec![plan]);
        let candidate = |plan: Arc<Plan>| {
            let destination = plan.route.destination;
            Candidate { order: self.order(destination), target: self.target(destination), plan }
        };
        plans.into_iter().map(candidate).collect()
    }
}
