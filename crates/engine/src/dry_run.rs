//! What the routes of an account would make of an event. Nothing is stored, nothing is sent.

use crate::catalog::Catalog;
use crate::engine::Engine;
use crate::expression::{Facts, Failure};
use crate::routing::{Mismatch, Order, Plan};
use crate::send::{Preview, Target, preview};
use postrider_core::delivery::Priority;
use postrider_core::id::{AccountId, DestinationId, EventId, RouteId};
use postrider_core::limits::RESPONSE_BYTES_MAX;
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

/// Most bytes of bodies that are shown in all.
const SHOWN_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What routes so far have made of an event.
struct Tried<'e> {
    content: &'e EventContent,
    facts: Facts<'e>,
    /// Which route took it to a destination.
    owed: IdMap<DestinationId, RouteId>,
    shown_bytes: usize,
}

/// What is looked at after the configuration is let go.
struct Candidate {
    plan: Arc<Plan>,
    order: Order,
    target: Option<Arc<Target>>,
}

impl Engine {
    /// Tries an event on the routes of its account, or on one route alone that is not made yet.
    pub async fn dry_run(&self, content: &EventContent, alone: Option<Route>) -> Vec<Judged> {
        // Compiled before and evaluated after the configuration is held: both take long.
        let alone = alone.map(|route| Arc::new(Plan::new(route)));
        let (candidates, source) = {
            let catalog = self.catalog();
            let source = content.origin.source().and_then(|id| catalog.source(content.account, id));
            let source = source.map(|source| source.name.clone());
            (catalog.candidates(content.account, alone), source.unwrap_or_default())
        };
        let facts = Facts::of(content, &source).for_dry_run();
        let mut tried = Tried { content, facts, owed: IdMap::default(), shown_bytes: 0 };
        let mut judged = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let verdict = self.judge(&candidate, &mut tried);
            judged.push(Judged { route: candidate.plan.route.clone(), verdict });
            // Others are served on this thread, and a route may take as long as an event.
            tokio::task::yield_now().await;
        }
        judged
    }

    fn judge(&self, candidate: &Candidate, tried: &mut Tried<'_>) -> Verdict {
        let (plan, route) = (&candidate.plan, &candidate.plan.route);
        let (content, facts) = (tried.content, &tried.facts);
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
        if let Some(first) = tried.owed.get(&route.destination) {
            return Verdict::AlreadyOwed(*first);
        }
        tried.owed.insert(route.destination, route.id);
        let (priority, rule) = plan.priority(facts);
        let ordering_key = candidate.order.key_text(facts);
        Verdict::Takes(Box::new(Taking {
            priority,
            rule,
            ordering_key,
            request: self.request(candidate, tried),
        }))
    }

    fn request(&self, candidate: &Candidate, tried: &mut Tried<'_>) -> Result<Preview, String> {
        let target = candidate.target.as_ref().ok_or("there is no such destination")?;
        let rewritten = candidate.plan.rewritten(tried.content, &tried.facts);
        let rewritten = rewritten.map_err(|failure| format!("the transform fails: {failure}"))?;
        let room = RESPONSE_BYTES_MAX.min(SHOWN_BYTES_MAX - tried.shown_bytes);
        let preview = preview(target, &rewritten, EventId::from_u64(0), self.clock(), room)?;
        tried.shown_bytes += preview.body.len();
        Ok(preview)
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
