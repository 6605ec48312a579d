//! What a route and its destination make of an event: its priority, and what it is ordered by.

use crate::expression::{BadExpression, Expression, Facts, Failure, Transform, Wants};
use crate::filter::Filter;
use crate::rewrite;
use postrider_core::delivery::{OrderKey, Priority};
use postrider_core::destination::Ordering;
use postrider_core::event::EventType;
use postrider_core::id::{DestinationId, RouteId, SourceId};
use postrider_core::map::IdSet;
use postrider_core::pattern::EventPattern;
use postrider_core::priority_rule::{PriorityRule, begins, ends, priority_from_header};
use postrider_store::{Destination, EventContent, Route};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// A route with its expressions compiled.
pub(crate) struct Plan {
    pub(crate) route: Arc<Route>,
    pub(crate) filter: Option<Filter>,
    /// `Err` when it is not legal: what it was to leave out must not be sent instead.
    transform: Option<Result<Transform, Failure>>,
    /// With their place in the route, since one that is not legal is left out.
    rules: Vec<(usize, Rule)>,
}

/// Why a route does not take an event, whatever is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mismatch {
    Inactive,
    Source,
    Type,
}

/// How deliveries to a destination are ordered.
#[derive(Clone)]
pub(crate) enum Order {
    /// Not at all.
    None,
    /// All of them one after the other.
    Whole,
    /// Those of one key.
    ByKey(Arc<Expression>),
}

/// A route that takes an event.
pub(crate) struct Match {
    pub(crate) plan: Arc<Plan>,
    pub(crate) order: Order,
}

/// One delivery that an event owes, without its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owed {
    pub(crate) route: RouteId,
    pub(crate) destination: DestinationId,
    pub(crate) priority: Priority,
    pub(crate) order: Option<OrderKey>,
}

enum Rule {
    Type(EventPattern, Priority),
    Prefix(String, Priority),
    Suffix(String, Priority),
    When(Expression, Priority),
    Value(Expression),
    Header(String),
}

/// All that an event owes: to each destination once, by the first route whose filter lets it pass. Where no route
/// and no destination has an expression, nothing of the event is read.
pub(crate) fn owed(matching: &[Match], facts: &Facts<'_>) -> Vec<Owed> {
    if matching.iter().all(|found| found.plan.filter.is_none()) {
        return matching.iter().map(|found| found.owed(facts)).collect();
    }
    let mut taken = IdSet::default();
    let mut owed = Vec::with_capacity(matching.len());
    for found in matching {
        let destination = found.plan.route.destination;
        let passes = !taken.contains(&destination)
            && found.plan.filter.as_ref().is_none_or(|filter| filter.lets_pass(facts));
        if passes {
            taken.insert(destination);
            owed.push(found.owed(facts));
        }
    }
    owed
}

impl Plan {
    /// A rule that does not compile, written by a version that knew more, matches nothing.
    pub(crate) fn new(route: Route) -> Self {
        let rules = route.priority_rules.iter().enumerate();
        let rules = rules.filter_map(|(index, rule)| Some((index, Rule::new(rule, &route)?))).collect();
        let filter = route.filter.as_deref().map(|text| Filter::new(text, &route));
        let transform = route.transform.as_deref().map(|text| {
            let compiled = Transform::compile(text);
            compiled.inspect_err(|bad| warn(&route.id, bad)).map_err(|_| Failure::not_legal())
        });
        Plan { route: Arc::new(route), filter, transform, rules }
    }

    /// Why it does not take events of this source and type, if it does not.
    pub(crate) fn mismatch(
        &self,
        source: Option<SourceId>,
        event_type: Option<&EventType>,
    ) -> Option<Mismatch> {
        let route = &self.route;
        if !route.active {
            Some(Mismatch::Inactive)
        } else if route.source.is_some_and(|only| Some(only) != source) {
            Some(Mismatch::Source)
        } else if !route.pattern.matches(event_type) {
            Some(Mismatch::Type)
        } else {
            None
        }
    }

    /// The priority of an event and which rule gave it, from 0; the route's own when none did.
    pub(crate) fn priority(&self, facts: &Facts<'_>) -> (Priority, Option<usize>) {
        let by_rule = |(index, rule): &(usize, Rule)| Some((rule.priority(facts)?, Some(*index)));
        self.rules.iter().find_map(by_rule).unwrap_or((self.route.priority, None))
    }

    pub(crate) fn transforms(&self) -> bool {
        self.transform.is_some()
    }

    /// What is sent in the place of an event, of which `facts` are.
    pub(crate) fn rewritten(
        &self,
        content: &EventContent,
        facts: &Facts<'_>,
    ) -> Result<EventContent, Failure> {
        match &self.transform {
            None => Ok(content.clone()),
            Some(Ok(transform)) => rewrite::rewritten(transform, content, facts),
            Some(Err(failure)) => Err(failure.clone()),
        }
    }
}

impl Match {
    fn owed(&self, facts: &Facts<'_>) -> Owed {
        let route = &self.plan.route;
        Owed {
            route: route.id,
            destination: route.destination,
            priority: self.plan.priority(facts).0,
            order: self.order.key(facts),
        }
    }
}

impl Order {
    pub(crate) fn new(destination: &Destination) -> Self {
        match (destination.ordering, &destination.ordering_key) {
            (Ordering::None, _) => Order::None,
            (Ordering::ByKey, Some(text)) => match compiled(text, Wants::Key, &destination.id) {
                Some(expression) => Order::ByKey(Arc::new(expression)),
                None => Order::Whole,
            },
            // Without a key, all in order keeps what was promised.
            (Ordering::ByKey, None) | (Ordering::Strict, _) => Order::Whole,
        }
    }

    /// The key of what has nothing to be ordered by.
    pub(crate) fn whole(&self) -> Option<OrderKey> {
        match self {
            Order::None => None,
            Order::Whole | Order::ByKey(_) => Some(OrderKey::WHOLE),
        }
    }

    fn key(&self, facts: &Facts<'_>) -> Option<OrderKey> {
        match self {
            Order::None => None,
            Order::Whole => Some(OrderKey::WHOLE),
            Order::ByKey(_) => Some(self.key_text(facts).map_or(OrderKey::WHOLE, |key| order_key(&key))),
        }
    }

    /// The key as it is written, if the event has one of its own.
    pub(crate) fn key_text(&self, facts: &Facts<'_>) -> Option<String> {
        match self {
            Order::ByKey(expression) => expression.key(facts),
            Order::None | Order::Whole => None,
        }
    }
}

/// The first 8 bytes of SHA-256 of the key's text. Stored rows carry it, so it must never change.
fn order_key(text: &str) -> OrderKey {
    let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let (first, _) = hash.split_at(8);
    OrderKey::from_u64(u64::from_be_bytes(first.try_into().expect("8 of 32 bytes")))
}

impl Rule {
    fn new(rule: &PriorityRule, route: &Route) -> Option<Self> {
        Some(match rule {
            PriorityRule::Type { pattern, priority } => Rule::Type(pattern.clone(), *priority),
            PriorityRule::Prefix { prefix, priority } => Rule::Prefix(prefix.clone(), *priority),
            PriorityRule::Suffix { suffix, priority } => Rule::Suffix(suffix.clone(), *priority),
            PriorityRule::When { when, priority } => {
                Rule::When(compiled(when, Wants::Bool, &route.id)?, *priority)
            }
            PriorityRule::Value { value } => Rule::Value(compiled(value, Wants::Priority, &route.id)?),
            PriorityRule::Header { name } => Rule::Header(name.clone()),
        })
    }

    fn priority(&self, facts: &Facts<'_>) -> Option<Priority> {
        let when = |holds: bool, priority: &Priority| holds.then_some(*priority);
        match self {
            Rule::Type(pattern, priority) => when(pattern.matches(facts.event_type), priority),
            Rule::Prefix(prefix, priority) => when(begins(facts.event_type, prefix), priority),
            Rule::Suffix(suffix, priority) => when(ends(facts.event_type, suffix), priority),
            Rule::When(expression, priority) => when(expression.holds(facts), priority),
            Rule::Value(expression) => expression.priority(facts),
            Rule::Header(name) => {
                let named = |(known, _): &(&str, &str)| known.eq_ignore_ascii_case(name);
                facts.headers.iter().find(named).and_then(|(_, value)| priority_from_header(value))
            }
        }
    }
}

/// Compiled once for each change, so what is wrong is logged once.
pub(crate) fn compiled(text: &str, wants: Wants, of: &dyn std::fmt::Display) -> Option<Expression> {
    Expression::compile(text, wants).inspect_err(|bad| warn(of, bad)).ok()
}

fn warn(of: &dyn std::fmt::Display, bad: &BadExpression) {
    tracing::warn!(%of, %bad, "stored expression is invalid; it matches nothing");
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_core::id::AccountId;
    use postrider_core::time::Timestamp;
    use postrider_store::Headers;

    fn destination(ordering: Ordering, key: Option<&str>) -> Destination {
        let (id, account) = (DestinationId::from_u64(1), AccountId::from_u64(1));
        let [name, url, secret] = [(); 3].map(|()| String::new());
        let plain = Destination::new(id, account, name, url, secret, Timestamp::ZERO);
        Destination { ordering, ordering_key: key.map(Into::into), ..plain }
    }

    #[test]
    fn an_ordered_delivery_has_the_key_of_its_event() {
        let headers = Headers::default();
        let facts = Facts::new(None, "shop", &headers, br#"{"id": "c-7", "ratio": 0.5}"#);
        let whole = Some(OrderKey::WHOLE);
        for (ordering, key, expected) in [
            (Ordering::None, None, None),
            (Ordering::Strict, None, whole),
            (Ordering::ByKey, Some("payload.id"), Some(order_key("c-7"))),
            (Ordering::ByKey, Some("event.source"), Some(order_key("shop"))),
            (Ordering::ByKey, Some("payload.missing"), whole),
            (Ordering::ByKey, Some("payload.ratio"), whole),
            (Ordering::ByKey, Some("no longer legal"), whole),
        ] {
            let order = Order::new(&destination(ordering, key));
            assert_eq!(order.key(&facts), expected, "{ordering:?} {key:?}");
        }
    }

    #[test]
    fn a_stored_rule_that_is_not_legal_matches_nothing() {
        let rule = |when: &str, priority| PriorityRule::When { when: when.into(), priority };
        let (id, to) = (RouteId::from_u64(1), DestinationId::from_u64(1));
        let plan = Plan::new(Route {
            priority_rules: vec![rule("tomorrow(", Priority::Critical), rule("true", Priority::Bulk)],
            ..Route::new(id, AccountId::from_u64(1), to, Timestamp::ZERO)
        });
        assert_eq!(plan.rules.len(), 1);
    }

    #[test]
    fn the_number_of_a_key_is_for_good() {
        // The first 8 bytes of SHA-256 of "customer-1", without the sign bit: rows in stores carry them.
        let hash = Sha256::digest(b"customer-1");
        let first = hash.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        assert_eq!(order_key("customer-1"), OrderKey::from_u64(first));
        assert_ne!(order_key("customer-1"), order_key("customer-2"));
        assert_ne!(order_key(""), OrderKey::WHOLE);
    }
}
