//! A destination: its settings, and what it is doing.

use super::word::{
    CircuitReason, CircuitState, ConcurrencyReason, DestinationStatus, OnDeadLetter, Ordering,
    SignatureVersion, WaitingFor,
};
use crate::api::destinations::keys::previous_until;
use crate::api::request::{Circuit, RateLimit, RetryPolicy};
use postrider_core::breaker;
use postrider_core::scheduler::{DestinationView, LimitReason};
use postrider_engine::Seen;
use postrider_store::codec::{circuit_to_json, policy_to_json, rate_to_json};
use postrider_store::{ClientCertificate, DestinationAuth, Handshake};
use serde::Serialize;
use serde_json::{Map, Value};
use std::time::Duration;
use utoipa::ToSchema;

/// Where events go, with its limits and what it is doing.
#[derive(Serialize, ToSchema)]
pub(crate) struct Destination {
    #[schema(example = "dst_01hz3k8q2v4xw")]
    id: String,
    account_id: String,
    name: String,
    #[schema(format = "uri")]
    url: String,
    timeout_seconds: u32,
    max_concurrency: u32,
    #[schema(value_type = Ordering)]
    ordering: &'static str,
    #[schema(value_type = OnDeadLetter)]
    on_dead_letter: &'static str,
    /// Whether fewer than `max_concurrency` attempts are made at once while it struggles.
    adaptive: bool,
    #[schema(value_type = Circuit)]
    circuit: Value,
    active: bool,
    #[schema(value_type = DestinationStatus)]
    status: &'static str,
    /// Attempts that run now.
    in_flight: u32,
    /// Deliveries that it is owed.
    pending: u64,
    /// The bytes of their bodies.
    pending_bytes: u64,
    #[schema(value_type = CircuitState)]
    circuit_state: &'static str,
    /// Since when its circuit is not closed; absent when it is, or when that was before the gateway started.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    circuit_opened_at: Option<String>,
    /// Why its circuit is not closed; absent when it is, or when it opened before the gateway started.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<CircuitReason>)]
    circuit_reason: Option<&'static str>,
    /// When its open circuit makes the next probe, if time alone brings it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    next_probe_at: Option<String>,
    /// Failures in a row; while its circuit is not closed failed probes are among them.
    consecutive_failures: u32,
    /// How long ago its owner told `in_flight`, `pending` and the like, when that is another node. Absent: they are as of
    /// now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    activity_age_ms: Option<u64>,
    #[schema(format = DateTime)]
    created_at: String,
    concurrency: Concurrency,
    /// What its next attempt waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<WaitingFor>)]
    waiting_for: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    waiting_until: Option<String>,
    /// Ordering keys that wait behind a dead letter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    blocked_keys: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<RetryPolicy>)]
    retry_policy: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<RateLimit>)]
    rate_limit: Option<Value>,
    /// The CEL expression for the key of `by_key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ordering_key: Option<String>,
    /// Why the gateway itself has disabled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    disabled_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    auth_config: Option<Auth>,
    /// Kinds of signature that its deliveries carry.
    #[schema(value_type = Vec<SignatureVersion>)]
    signature_versions: &'static [&'static str],
    /// Until when keys that were rotated out sign beside the new ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    previous_keys_until: Option<String>,
    /// What is shown to the receiver in TLS; never with its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    client_certificate: Option<ShownCertificate>,
    /// Who may have signed the receiver's certificate, in place of the public authorities.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ca_pem: Option<String>,
    /// The preset that its limits were copied from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    preset: Option<String>,
    /// Whether its receiver must agree before it is sent anything.
    handshake: bool,
    /// Names with `[redacted]` for each value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<HashMap<String, String>>)]
    custom_headers: Option<Map<String, Value>>,
    /// In full only in the answer that makes the destination: the receiver checks signatures with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) signing_secret: Option<String>,
}

/// How many attempts at once are allowed now, and why no more.
#[derive(Serialize, ToSchema)]
pub(super) struct Concurrency {
    limit: u32,
    #[schema(value_type = ConcurrencyReason)]
    reason: &'static str,
}

impl Concurrency {
    pub(super) fn of(limit: u32, reason: LimitReason) -> Self {
        Concurrency { limit, reason: reason.as_str() }
    }
}

/// How the gateway names itself to the receiver, without the secret.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Auth {
    Bearer,
    Header { header: String },
    Basic { username: String },
}

/// A certificate without its key.
#[derive(Serialize, ToSchema)]
#[schema(as = ShownClientCertificate)]
struct ShownCertificate {
    certificate_pem: String,
}

impl ShownCertificate {
    fn of(found: &ClientCertificate) -> Self {
        ShownCertificate { certificate_pem: found.certificate_pem.clone() }
    }
}

impl Destination {
    pub(crate) fn of(found: &postrider_store::Destination, seen: Option<Seen>) -> Self {
        let told_ago = seen.and_then(|seen| seen.told_ago);
        let seen = seen.and_then(|seen| seen.view);
        let seen = seen.as_ref();
        Destination {
            id: found.id.to_string(),
            account_id: found.account.to_string(),
            name: found.name.clone(),
            url: found.url.clone(),
            timeout_seconds: found.timeout.get(),
            max_concurrency: found.max_concurrency.get(),
            ordering: found.ordering.as_str(),
            on_dead_letter: found.on_dead_letter.as_str(),
            adaptive: found.adaptive,
            circuit: circuit_to_json(found.circuit),
            active: found.active,
            status: found.status().as_str(),
            in_flight: seen.map_or(0, |seen| seen.in_flight),
            pending: seen.map_or(0, |seen| seen.pending.rows),
            pending_bytes: seen.map_or(0, |seen| seen.pending.bytes),
            circuit_state: seen.map_or(breaker::Circuit::Closed, |seen| seen.circuit).as_str(),
            circuit_opened_at: seen.and_then(|seen| seen.opened_at).map(|at| at.to_string()),
            circuit_reason: seen.and_then(|seen| seen.circuit_reason).map(|reason| reason.as_str()),
            next_probe_at: seen.and_then(|seen| seen.next_probe_at).map(|at| at.to_string()),
            consecutive_failures: seen.map_or(0, |seen| seen.consecutive_failures),
            activity_age_ms: told_ago.map(age_ms),
            created_at: found.created_at.to_string(),
            concurrency: concurrency(found, seen),
            waiting_for: seen.map(|seen| seen.why.as_str()),
            waiting_until: seen.and_then(|seen| seen.until).map(|until| until.to_string()),
            blocked_keys: seen.map(|seen| seen.blocked_keys as u64).filter(|keys| *keys > 0),
            retry_policy: found.retry_policy.as_ref().map(policy_to_json),
            rate_limit: found.rate_limit.map(rate_to_json),
            ordering_key: found.ordering_key.clone(),
            disabled_reason: disabled_reason(found),
            auth_config: found.auth.as_ref().map(auth),
            signature_versions: found.signing.versions.words(),
            previous_keys_until: previous_until(found).map(|until| until.to_string()),
            client_certificate: found.tls.client_certificate.as_ref().map(ShownCertificate::of),
            ca_pem: found.tls.ca_pem.clone(),
            preset: found.preset.clone(),
            handshake: found.handshake != Handshake::Off,
            custom_headers: redacted(found),
            signing_secret: None,
        }
    }
}

fn concurrency(found: &postrider_store::Destination, seen: Option<&DestinationView>) -> Concurrency {
    let limit = seen.map_or(found.max_concurrency.get(), |seen| seen.limit);
    let reason = seen.map_or(LimitReason::Configured, |seen| seen.limit_reason);
    Concurrency::of(limit, reason)
}

fn disabled_reason(found: &postrider_store::Destination) -> Option<String> {
    let not_asked = "Its receiver has not agreed to be sent events; POST …/handshake asks it again.";
    let missing = || found.handshake.is_missing().then(|| not_asked.to_owned());
    found.disabled_reason.clone().or_else(missing)
}

fn auth(auth: &DestinationAuth) -> Auth {
    match auth {
        DestinationAuth::Bearer { .. } => Auth::Bearer,
        DestinationAuth::Header { header, .. } => Auth::Header { header: header.clone() },
        DestinationAuth::Basic { username, .. } => Auth::Basic { username: username.clone() },
    }
}

fn redacted(found: &postrider_store::Destination) -> Option<Map<String, Value>> {
    let names = found.custom_headers.iter().map(|(name, _)| (name.to_owned(), Value::from("[redacted]")));
    Some(names.collect()).filter(|names: &Map<String, Value>| !names.is_empty())
}

/// As a whole number, for a program.
pub(super) fn age_ms(ago: Duration) -> u64 {
    u64::try_from(ago.as_millis()).unwrap_or(u64::MAX)
}
