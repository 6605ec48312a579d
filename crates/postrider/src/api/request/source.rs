//! What making and changing a source takes.

use super::RateLimit;
use crate::api::view::word::{AuthMode, SourceStatus};
use utoipa::ToSchema;

/// A new source.
#[derive(ToSchema)]
pub(crate) struct NewSource {
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// `none` without `verification_config`, else `shared_secret`.
    #[schema(value_type = Option<AuthMode>)]
    auth_mode: Option<String>,
    verification_config: Option<VerificationConfig>,
    /// The service that will send here. The name of a preset stands for how that provider signs.
    #[schema(min_length = 1, max_length = 200, example = "stripe")]
    provider: Option<String>,
    event_type_from: Option<FieldPlaceGiven>,
    idempotency_key_from: Option<FieldPlaceGiven>,
    /// How often events may come; more are refused with 429.
    rate_limit: Option<RateLimit>,
}

/// What is not given stays; `null` takes an optional field away.
#[derive(ToSchema)]
pub(crate) struct SourceChange {
    #[schema(min_length = 1, max_length = 200)]
    name: Option<String>,
    /// An inactive one answers as if it did not exist.
    #[schema(value_type = Option<SourceStatus>)]
    status: Option<String>,
    #[schema(value_type = Option<AuthMode>)]
    auth_mode: Option<String>,
    verification_config: Option<VerificationConfig>,
    #[schema(min_length = 1, max_length = 200)]
    provider: Option<String>,
    rate_limit: Option<RateLimit>,
    event_type_from: Option<FieldPlaceGiven>,
    idempotency_key_from: Option<FieldPlaceGiven>,
}

/// How senders must sign. With a preset as `provider` the secret is enough.
#[derive(ToSchema)]
struct VerificationConfig {
    /// Where the signature is.
    #[schema(example = "X-Shop-Signature")]
    header: Option<String>,
    #[schema(min_length = 1, max_length = 4096)]
    secret: Option<String>,
    /// Several while they are rotated.
    #[schema(max_items = 8)]
    secrets: Option<Vec<String>>,
    #[schema(max_length = 4096)]
    public_key: Option<String>,
    /// `token`, `hmac_sha256`, `hmac_sha1`, `ecdsa_p256_sha256` or `ed25519`.
    #[schema(default = "token")]
    scheme: Option<String>,
    /// `hex` or `base64`.
    #[schema(default = "hex")]
    encoding: Option<String>,
    /// What a signature begins with.
    #[schema(example = "sha256=")]
    prefix: Option<String>,
    /// One character between several entries of the header.
    separator: Option<String>,
    /// What is signed.
    #[schema(default = "{body}", example = "{timestamp}.{body}")]
    signed: Option<String>,
    /// The header that `{id}` stands for.
    id_header: Option<String>,
    timestamp: Option<SignedTimestamp>,
    /// How far from now the time of a signature may be.
    #[schema(minimum = 1, maximum = 604_800, default = 300)]
    tolerance_seconds: Option<u64>,
    /// `slack` or `discord`.
    challenge: Option<String>,
}

/// Where the time of a signature is, in one of three places, and its unit.
#[derive(ToSchema)]
struct SignedTimestamp {
    header: Option<String>,
    /// How its entry in the header of the signature begins.
    #[schema(example = "t=")]
    entry: Option<String>,
    json_pointer: Option<String>,
    /// `seconds`, `milliseconds` or `rfc3339`.
    #[schema(default = "seconds")]
    unit: Option<String>,
}

/// One of the two.
#[derive(ToSchema)]
struct FieldPlaceGiven {
    #[schema(example = "X-Event-Type")]
    header: Option<String>,
    #[schema(example = "/data/type")]
    json_pointer: Option<String>,
}
