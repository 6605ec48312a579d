//! Keys of a destination, as far as they may be shown.

use crate::api::destinations::keys::{previous_until, public_text};
use postrider_store::Destination;
use serde::Serialize;
use utoipa::ToSchema;

/// Keys that were made anew.
#[derive(Serialize, ToSchema)]
pub(crate) struct NewSecret {
    /// In full, this once.
    #[schema(example = "whsec_…")]
    signing_secret: String,
    /// There when the destination has a key for `v1a`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "whpk_…")]
    public_key: Option<String>,
    /// Until when the old ones sign beside them; absent when they stopped at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    previous_keys_until: Option<String>,
}

impl NewSecret {
    pub(crate) fn of(rotated: &Destination) -> Self {
        NewSecret {
            signing_secret: rotated.signing_secret.clone(),
            public_key: public_text(rotated),
            previous_keys_until: previous_until(rotated).map(|until| until.to_string()),
        }
    }
}

/// What receivers check `v1a` signatures with.
#[derive(Serialize, ToSchema)]
pub(crate) struct PublicKey {
    #[schema(example = "whpk_…")]
    pub(crate) public_key: String,
}
