//! The words that a field can be. They only describe: the words themselves come from the types of the core.

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = [$($word:literal),+ $(,)?];)+) => { $(
        $(#[$doc])*
        pub(crate) struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                one_of([$($word),+])
            }
        }

        impl ToSchema for $name {}
    )+ };
}

words! {
    Scope = ["admin", "account", "read", "ingest", "portal"];
    NewScope = ["admin", "account", "read", "ingest"];
    NewRole = ["owner", "admin", "viewer"];
    AuthMode = ["none", "shared_secret"];
    SourceStatus = ["active", "inactive"];
    JobStatus = ["pending"];
    TaskStatus = ["queued"];
    PresetNeeds = ["secret", "public_key", "secret_or_public_key"];
    Ordering = ["none", "strict", "by_key"];
    OnDeadLetter = ["block", "skip"];
    DestinationStatus = ["active", "paused", "disabled"];
    SignatureVersion = ["v1", "v1a"];
    CircuitState = ["closed", "open", "half_open"];
    CircuitReason = ["failure_rate", "consecutive_failures", "no_success", "operator"];
    ConcurrencyReason = ["configured", "recovering", "healthy", "throttled", "timed_out", "slow"];
    WaitingFor = [
        "nothing_pending", "not_due", "concurrency", "bytes_in_flight", "rate_limit", "circuit", "retry_after",
        "overwhelmed", "node_resources", "unclean_stop", "paused", "dead_letter", "slots",
    ];
    NodeResource = ["file_descriptors", "local_ports", "memory", "threads", "transformed_bodies"];
    Resolution = ["1s", "1m", "1h"];
    StoreKind = ["sqlite", "postgresql"];
    Durability = ["none", "server", "standby"];
    Lane = ["fresh", "retry", "replay", "ordered"];
    Direction = ["inbound", "outbound"];
    BodyEncoding = ["utf8", "base64"];
    IngestStatus = ["queued", "accepted"];
    EventStatus = ["accepted", "queued", "delivering", "delivered", "retry_scheduled", "dead_letter"];
    EventStatusAsked = [
        "received", "accepted", "queued", "delivering", "delivered", "retry_scheduled", "dead_letter", "replayed",
    ];
    DeliveryStatus = ["queued", "delivering", "delivered", "retry_scheduled", "dead_letter"];
    FinalState = ["delivered", "dead_letter"];
    DeathReason = [
        "attempts", "age", "final_answer", "disabled", "destination_deleted", "expired", "transform_failed",
        "crash_loop",
    ];
    Outcome = ["success", "timeout", "network_error", "http_4xx", "http_5xx", "cancelled"];
    ErrorKind = [
        "address_refused", "dns", "connect", "tls", "disconnected", "bad_response", "status", "timeout",
        "bad_request", "transform", "internal",
    ];
    RouteRefusal = ["inactive", "other_source", "other_type", "filter_false", "filter_error", "already_routed"];
    ReplayState = ["running", "paused", "done", "cancelled"];
    ReplayOrder = ["running", "paused", "cancelled"];
    Jitter = ["full", "none"];
    RetryPreset = ["standard", "waford", "standard-webhooks"];
    Backoff = ["exponential"];
    AuditWay = ["key", "dashboard", "portal", "machine"];
    Noun = [
        "account", "api_key", "source", "destination", "route", "event_type", "event", "dead_letter", "replay",
    ];
    ExportFormat = ["waford", "full"];
}

fn one_of<const N: usize>(words: [&'static str; N]) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).enum_values(Some(words)).into()
}
