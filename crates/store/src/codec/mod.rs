//! The text forms that stores and the API share: configuration documents, fan-out lists, what follows, retry
//! policies, priority rules.

mod document;
mod field_place;
mod limits;
mod policy;
mod rules;

pub use document::{BadDocument, Document, Edit, Kind, accounts_noted, edits, fingerprint};
pub use field_place::{FIELD_PLACE_FORMS, field_place_from_json, field_place_to_json};
pub use limits::{
    CIRCUIT_PARTS, RATE_PARTS, circuit_from_json, circuit_to_json, rate_from_json, rate_to_json,
};
pub use policy::{POLICY_PARTS, policy_from_json, policy_to_json};
pub use rules::{BadRule, rules_from_json, rules_to_json};

use crate::batch::NewDelivery;
use postrider_core::delivery::Priority;
use postrider_core::id::{DeliveryId, DestinationId, RouteId};
use postrider_core::outcome::{DeathReason, Next};
use postrider_core::time::Timestamp;

/// A fan-out as `[[delivery, destination, route, priority], …]`, so that SQL can look into it.
pub fn deliveries_to_text(deliveries: &[NewDelivery]) -> String {
    let mut text = String::with_capacity(2 + deliveries.len() * 64);
    text.push('[');
    let mut digits = itoa::Buffer::new();
    for (index, owed) in deliveries.iter().enumerate() {
        text.push_str(if index == 0 { "[" } else { ",[" });
        for id in [owed.id.as_u64(), owed.destination.as_u64(), owed.route.as_u64()] {
            text.push_str(digits.format(id));
            text.push(',');
        }
        text.push_str(digits.format(owed.priority.number()));
        text.push(']');
    }
    text.push(']');
    text
}

/// A fan-out from its text, without what it was ordered by; `None` when it is none.
pub fn deliveries_from_text(text: &str) -> Option<Vec<NewDelivery>> {
    let rows: Vec<(u64, u64, u64, u64)> = serde_json::from_str(text).ok()?;
    let delivery = |(id, destination, route, priority)| {
        Some(NewDelivery {
            id: DeliveryId::from_u64(id),
            destination: DestinationId::from_u64(destination),
            route: RouteId::from_u64(route),
            priority: Priority::from_number(priority)?,
            order: None,
        })
    };
    rows.into_iter().map(delivery).collect()
}

/// What follows an attempt, as a word and a time.
pub fn next_to_words(next: Next) -> (&'static str, Option<Timestamp>) {
    match next {
        Next::Delivered => ("delivered", None),
        Next::Retry { due } => ("retry", Some(due)),
        Next::Dead(reason) => (reason.as_str(), None),
    }
}

/// What follows an attempt, from its word and time.
pub fn next_from_words(word: &str, due: Option<Timestamp>) -> Option<Next> {
    match (word, due) {
        ("delivered", _) => Some(Next::Delivered),
        ("retry", Some(due)) => Some(Next::Retry { due }),
        _ => DeathReason::from_word(word).map(Next::Dead),
    }
}
