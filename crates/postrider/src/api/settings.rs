//! `/v1/settings`: how the gateway is set up, and how much room its store has.

use super::Shared;
use super::auth::Caller;
use super::error::ApiError;
use super::refusal::Keyed;
use super::view::{self, Data};
use crate::config::Config;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use postrider_core::scheduler::{ByteLimits, Floors};
use postrider_engine::BacklogLimits;
use std::sync::PoisonError;

/// What of the settings an operator may want to see again. No secret is among them.
pub(crate) struct Configured {
    pub(crate) store: &'static str,
    pub(crate) https_only: bool,
    pub(crate) egress_allow: Vec<String>,
    pub(crate) retention_days: u32,
    pub(crate) retention_bytes: Option<u64>,
    pub(crate) slots: u32,
    pub(crate) floors: Floors,
    pub(crate) workers: usize,
    pub(crate) bytes: ByteLimits,
    pub(crate) backlog: BacklogLimits,
    pub(crate) connections: usize,
    pub(crate) connections_per_address: usize,
    pub(crate) promotion_age_seconds: Option<u64>,
    pub(crate) grace_seconds: u64,
    pub(crate) lease_seconds: Option<u64>,
    pub(crate) has_dead_letter_file: bool,
    pub(crate) sends_traces: bool,
}

impl Configured {
    pub(crate) fn of(config: &Config) -> Self {
        let is_shared = config.database_url.is_some();
        Configured {
            store: if is_shared { "postgresql" } else { "sqlite" },
            https_only: config.https_only,
            egress_allow: config.egress_allow.iter().map(ToString::to_string).collect(),
            retention_days: config.retention_days,
            // Only segments are dropped for their size.
            retention_bytes: config.retention_bytes.filter(|_| !is_shared),
            slots: config.slots,
            floors: floors(config),
            workers: config.workers,
            bytes: config.bytes,
            backlog: config.backlog,
            connections: config.connections.total,
            connections_per_address: config.connections.per_address,
            promotion_age_seconds: config.promotion_age.map(|age| age.as_secs()),
            grace_seconds: config.grace.as_secs(),
            lease_seconds: is_shared.then_some(config.lease.as_secs()),
            has_dead_letter_file: config.dead_letter_file.is_some(),
            sends_traces: config.traces.is_some(),
        }
    }

    /// Takes in limits that were changed while the gateway runs.
    pub(crate) fn limit(&mut self, config: &Config) {
        self.slots = config.slots;
        self.floors = floors(config);
        self.promotion_age_seconds = config.promotion_age.map(|age| age.as_secs());
        self.bytes = config.bytes;
        self.backlog = config.backlog;
        self.connections = config.connections.total;
        self.connections_per_address = config.connections.per_address;
    }
}

fn floors(config: &Config) -> Floors {
    config.floors.unwrap_or_else(|| Floors::of_slots(config.slots))
}

/// Get the settings
///
/// How the node that answers is set up, without secrets, and how much room its store takes and has.
#[utoipa::path(
    get, path = "/v1/settings", operation_id = "get_settings", tag = "gateway",
    responses((status = 200, description = "The settings.", body = Data<view::Settings>), Keyed)
)]
pub(crate) async fn get(State(app): Shared, _operator: Caller) -> Result<Response, ApiError> {
    let space = app.engine.store_health().space();
    let settings = {
        let configured = app.settings.read().unwrap_or_else(PoisonError::into_inner);
        view::Settings::of(&configured, &app.public_url, space)
    };
    Ok(view::data(StatusCode::OK, &settings))
}
