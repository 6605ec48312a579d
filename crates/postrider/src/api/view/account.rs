//! An account, and what making one answers.

use super::ApiKey;
use serde::Serialize;
use utoipa::ToSchema;

/// A tenant.
#[derive(Serialize, ToSchema)]
pub(crate) struct Account {
    #[schema(example = "acc_01hz3k8q2v4xw")]
    id: String,
    name: String,
    /// `self-hosted` unless the operator says otherwise.
    plan: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "email")]
    email: Option<String>,
    /// Its older events are not shown. That of the gateway unless the operator says less.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required, nullable = false)]
    retention_days: Option<u32>,
    /// Its share beside the other accounts.
    weight: u32,
    /// Where it is told of what befalls its other destinations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    operational_destination_id: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
    /// Attempts at once over all its destinations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    max_in_flight: Option<u32>,
    /// Deliveries that it may be owed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    max_pending: Option<u64>,
    /// Bytes of bodies that it may be owed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    max_pending_bytes: Option<u64>,
    /// How long one of its deliveries may wait for nothing but a slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    max_pending_age_seconds: Option<u32>,
}

impl Account {
    /// With the days that the gateway keeps events for, where the account has none of its own.
    pub(crate) fn seen(account: &postrider_store::Account, days_kept: u32) -> Self {
        let retention_days = account.retention_days.or(Some(days_kept));
        Account { retention_days, ..Account::of(account) }
    }

    /// What is set of it.
    pub(crate) fn of(account: &postrider_store::Account) -> Self {
        Account {
            id: account.id.to_string(),
            name: account.name.clone(),
            plan: account.plan.clone().unwrap_or_else(|| "self-hosted".into()),
            email: account.email.clone(),
            retention_days: account.retention_days,
            weight: account.weight.get(),
            operational_destination_id: account.operational_destination.map(|id| id.to_string()),
            created_at: account.created_at.to_string(),
            max_in_flight: account.max_in_flight,
            max_pending: account.max_pending,
            max_pending_bytes: account.max_pending_bytes,
            max_pending_age_seconds: account.max_pending_age_seconds,
        }
    }
}

/// A new account with its first key.
#[derive(Serialize, ToSchema)]
pub(crate) struct AccountWithKey {
    pub(crate) account: Account,
    /// Its first key.
    pub(crate) api_key: ApiKey,
}
