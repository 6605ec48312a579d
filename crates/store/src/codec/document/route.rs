//! Routes as documents.

use super::BadDocument;
use super::fields::{Reading, Writing, text};
use crate::Route;
use crate::codec::{policy_from_json, policy_to_json, rules_from_json, rules_to_json};
use postrider_core::delivery::Priority;
use postrider_core::id::{AccountId, DestinationId, RouteId, SourceId};
use postrider_core::pattern::EventPattern;

/// Stores look routes up by these two when a source or a destination goes.
pub(super) const SOURCE: &str = "source_id";
pub(super) const DESTINATION: &str = "destination_id";

pub(super) fn write(route: &Route, into: &mut Writing<'_>) {
    into.put("account_id", route.account.to_string());
    into.put(SOURCE, route.source.map(|id| id.to_string()));
    into.put(DESTINATION, route.destination.to_string());
    into.put("event_type_pattern", route.pattern.as_str());
    into.put("filter", route.filter.as_deref());
    into.put("transform", route.transform.as_deref());
    into.put("priority", route.priority.number());
    into.put("priority_rules", rules_to_json(&route.priority_rules));
    into.put("retry_policy", route.retry_policy.as_ref().map(policy_to_json));
    into.put("active", route.active);
    into.time("created_at", route.created_at);
}

pub(super) fn read(from: &Reading<'_>) -> Result<Route, BadDocument> {
    Ok(Route {
        id: RouteId::from_u64(from.id()),
        account: from.get("account_id", |value| AccountId::parse(value.as_str()?).ok())?,
        source: from.maybe(SOURCE, |value| SourceId::parse(value.as_str()?).ok())?,
        destination: from.get(DESTINATION, |value| DestinationId::parse(value.as_str()?).ok())?,
        pattern: from.get("event_type_pattern", |value| EventPattern::parse(value.as_str()?).ok())?,
        filter: from.maybe("filter", text)?,
        transform: from.maybe("transform", text)?,
        priority: from.get("priority", |value| Priority::from_number(value.as_u64()?))?,
        priority_rules: from.get("priority_rules", |value| rules_from_json(value).ok())?,
        retry_policy: from.maybe("retry_policy", |value| policy_from_json(value).ok())?,
        active: from.switch("active")?,
        created_at: from.time("created_at")?,
    })
}
