//! A route.

use crate::api::request::{PriorityRule, RetryPolicy};
use postrider_engine::Catalog;
use postrider_store::codec::{policy_to_json, rules_to_json};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// Which events go to which destination, at which priority.
#[derive(Serialize, ToSchema)]
pub(crate) struct Route {
    #[schema(example = "rte_01hz3k8q2v4xw")]
    id: String,
    account_id: String,
    destination_id: String,
    /// Types of events that it takes: `*` is one word of them, `**` any number. Either alone takes every event.
    #[schema(example = "payment.*")]
    event_type_pattern: String,
    /// A CEL expression; only events for which it is true are taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    filter: Option<String>,
    /// Events that were not taken because the filter failed for them, since the route was changed or the gateway
    /// started. There with a filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    filter_errors: Option<u64>,
    /// A CEL expression for another body, or for a map of `body` and `headers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    transform: Option<String>,
    /// From 1 critical to 4 bulk.
    #[schema(minimum = 1, maximum = 4)]
    priority: u64,
    active: bool,
    #[schema(format = DateTime)]
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Vec<PriorityRule>>)]
    priority_rules: Option<Value>,
    /// The one source whose events it takes; those of every source when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    source_id: Option<String>,
    /// Stands over that of the destination; empty when the route has none of its own.
    #[schema(value_type = RetryPolicy)]
    retry_policy: Value,
}

impl Route {
    /// With what its filter has counted.
    pub(crate) fn seen(route: &postrider_store::Route, catalog: &Catalog) -> Self {
        Route { filter_errors: catalog.filter_errors(route.id), ..Route::of(route) }
    }

    pub(crate) fn of(route: &postrider_store::Route) -> Self {
        let ruled = !route.priority_rules.is_empty();
        Route {
            id: route.id.to_string(),
            account_id: route.account.to_string(),
            destination_id: route.destination.to_string(),
            event_type_pattern: route.pattern.as_str().to_owned(),
            filter: route.filter.clone(),
            filter_errors: None,
            transform: route.transform.clone(),
            priority: route.priority.number().into(),
            active: route.active,
            created_at: route.created_at.to_string(),
            priority_rules: ruled.then(|| rules_to_json(&route.priority_rules)),
            source_id: route.source.map(|id| id.to_string()),
            retry_policy: route.retry_policy.as_ref().map_or_else(|| json!({}), policy_to_json),
        }
    }
}
