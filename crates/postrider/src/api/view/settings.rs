//! How the gateway is set up.

use super::word::StoreKind;
use crate::api::settings::Configured;
use postrider_core::delivery::Priority;
use postrider_store::Space;
use serde::Serialize;
use utoipa::ToSchema;

/// How a node is set up. The names are those of its settings.
#[derive(Serialize, ToSchema)]
pub(crate) struct Settings {
    version: &'static str,
    #[schema(value_type = StoreKind)]
    store: &'static str,
    #[schema(format = "uri")]
    public_url: String,
    https_only: bool,
    /// Ranges of addresses that are open beside the global ones.
    egress_allow: Vec<String>,
    retention_days: u32,
    /// Of an embedded store.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    retention_bytes: Option<u64>,
    /// What the store takes.
    store_bytes: u64,
    /// A database server does not say how much room it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    disk_free_bytes: Option<u64>,
    /// Below which no event is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    disk_reserve_bytes: Option<u64>,
    /// Attempts at once.
    slots: u32,
    /// Of these, those that each priority may always have, critical first.
    priority_floors: [u32; Priority::COUNT],
    /// Threads that serve and send.
    workers: usize,
    /// Bytes of attempts in flight above which no further large body is sent.
    in_flight_bytes_max: u64,
    in_flight_bytes_per_account_max: u64,
    in_flight_bytes_per_destination_max: u64,
    backlog_max_rows: u64,
    backlog_max_bytes: u64,
    backlog_max_age_seconds: u64,
    commit_max_ms: u64,
    connections_max: usize,
    connections_per_address_max: usize,
    /// After which a delivery becomes more urgent; absent when it never does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    promotion_age_seconds: Option<u64>,
    /// How long a stop waits for attempts in flight.
    grace_seconds: u64,
    /// Of nodes that share a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    lease_seconds: Option<u64>,
    /// Whether dead letters are appended to a file too.
    dead_letter_file: bool,
    /// Whether spans are sent to a collector.
    traces: bool,
}

impl Settings {
    pub(crate) fn of(configured: &Configured, public_url: &str, space: Space) -> Self {
        let Configured { backlog, .. } = configured;
        Settings {
            version: env!("CARGO_PKG_VERSION"),
            store: configured.store,
            public_url: public_url.to_owned(),
            https_only: configured.https_only,
            egress_allow: configured.egress_allow.clone(),
            retention_days: configured.retention_days,
            retention_bytes: configured.retention_bytes,
            store_bytes: space.used_bytes,
            disk_free_bytes: space.free_bytes,
            disk_reserve_bytes: space.reserve_bytes,
            slots: configured.slots,
            priority_floors: Priority::ALL.map(|band| configured.floors.of(band)),
            workers: configured.workers,
            in_flight_bytes_max: configured.bytes.node,
            in_flight_bytes_per_account_max: configured.bytes.account,
            in_flight_bytes_per_destination_max: configured.bytes.destination,
            backlog_max_rows: backlog.rows,
            backlog_max_bytes: backlog.bytes,
            backlog_max_age_seconds: backlog.age.as_secs(),
            commit_max_ms: u64::try_from(backlog.commit.as_millis()).unwrap_or(u64::MAX),
            connections_max: configured.connections,
            connections_per_address_max: configured.connections_per_address,
            promotion_age_seconds: configured.promotion_age_seconds,
            grace_seconds: configured.grace_seconds,
            lease_seconds: configured.lease_seconds,
            dead_letter_file: configured.has_dead_letter_file,
            traces: configured.sends_traces,
        }
    }
}
