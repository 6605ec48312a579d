//! What making and changing a destination takes.

use super::{Circuit, RateLimit, RetryPolicy};
use crate::api::view::word::{CircuitState, OnDeadLetter, Ordering, SignatureVersion};
use std::collections::HashMap;
use utoipa::ToSchema;

/// A new destination.
#[derive(ToSchema)]
pub(crate) struct NewDestination {
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// `http` or `https`. An address that is not open to deliveries is refused.
    #[schema(format = "uri", example = "https://example.com/hooks")]
    url: String,
    /// Attempts at once, at most.
    #[schema(minimum = 1, maximum = 1000, default = 5)]
    max_concurrency: Option<u32>,
    #[schema(minimum = 1, maximum = 120, default = 10)]
    timeout_seconds: Option<u32>,
    #[schema(default = true)]
    active: Option<bool>,
    retry_policy: Option<RetryPolicy>,
    auth_config: Option<Auth>,
    /// Sent with every attempt.
    custom_headers: Option<HashMap<String, String>>,
    /// Made if not given.
    #[schema(example = "whsec_…")]
    signing_secret: Option<String>,
    /// Which kinds of signature its deliveries carry; `["v1"]` when absent.
    #[schema(value_type = Option<Vec<SignatureVersion>>)]
    signature_versions: Option<Vec<String>>,
    /// An ed25519 key for `v1a`; made if not given.
    #[schema(example = "whsk_…")]
    private_key: Option<String>,
    client_certificate: Option<ClientCertificate>,
    /// Certificates of the authorities that may have signed the receiver's, in place of the public ones.
    ca_pem: Option<String>,
    /// The name of a destination preset. It gives the limits that are not given here.
    preset: Option<String>,
    /// Whether the receiver must agree before it is sent anything.
    #[schema(default = false)]
    handshake: Option<bool>,
    rate_limit: Option<RateLimit>,
    circuit: Option<Circuit>,
    /// Whether fewer than `max_concurrency` attempts are made at once while it struggles.
    #[schema(default = true)]
    adaptive: Option<bool>,
    /// In an ordered line, whether one that is given up on lets the rest wait or go on; `block` when absent.
    #[schema(value_type = Option<OnDeadLetter>)]
    on_dead_letter: Option<String>,
    /// `none` when absent.
    #[schema(value_type = Option<Ordering>)]
    ordering: Option<String>,
    /// With `by_key`, and only then: a CEL expression for the key.
    #[schema(max_length = 4096, example = "payload.customer.id")]
    ordering_key: Option<String>,
}

/// What is not given stays; `null` takes an optional field away.
#[derive(ToSchema)]
pub(crate) struct DestinationChange {
    #[schema(min_length = 1, max_length = 200)]
    name: Option<String>,
    #[schema(format = "uri")]
    url: Option<String>,
    #[schema(minimum = 1, maximum = 1000)]
    max_concurrency: Option<u32>,
    #[schema(minimum = 1, maximum = 120)]
    timeout_seconds: Option<u32>,
    active: Option<bool>,
    retry_policy: Option<RetryPolicy>,
    auth_config: Option<Auth>,
    custom_headers: Option<HashMap<String, String>>,
    signing_secret: Option<String>,
    #[schema(value_type = Option<Vec<SignatureVersion>>)]
    signature_versions: Option<Vec<String>>,
    private_key: Option<String>,
    client_certificate: Option<ClientCertificate>,
    ca_pem: Option<String>,
    preset: Option<String>,
    handshake: Option<bool>,
    rate_limit: Option<RateLimit>,
    circuit: Option<Circuit>,
    adaptive: Option<bool>,
    #[schema(value_type = Option<OnDeadLetter>)]
    on_dead_letter: Option<String>,
    #[schema(value_type = Option<Ordering>)]
    ordering: Option<String>,
    #[schema(max_length = 4096)]
    ordering_key: Option<String>,
}

/// How the gateway names itself to the receiver.
#[derive(ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[schema(as = AuthConfig)]
enum Auth {
    /// `Authorization: Bearer token`.
    Bearer { token: String },
    /// Any other header.
    Header { header: String, value: String },
    /// `Authorization: Basic …` of the pair.
    Basic { username: String, password: String },
}

/// A certificate that the gateway shows to the receiver, with its key; both in PEM.
#[derive(ToSchema)]
struct ClientCertificate {
    /// May be followed by the certificates of its issuers.
    certificate_pem: String,
    private_key_pem: String,
}

/// How keys are rotated.
#[derive(ToSchema)]
pub(crate) struct Rotation {
    /// How long the old keys sign beside the new ones; 0: not at all.
    #[schema(minimum = 0, maximum = 2_592_000, default = 86400)]
    grace_seconds: Option<u64>,
}

/// What a test sends.
#[derive(ToSchema)]
pub(crate) struct NewTrial {
    #[schema(example = "order.paid")]
    event_type: Option<String>,
    /// A text is sent as it is, anything else as JSON.
    payload: Option<serde_json::Value>,
}

/// What a circuit is told to be.
#[derive(ToSchema)]
pub(crate) struct CircuitOrder {
    /// `open` leaves it alone until told otherwise, `half_open` makes one probe now, `closed` sends again.
    #[schema(value_type = CircuitState)]
    state: String,
}
