//! A preset of destinations.

use crate::api::destinations::presets::Preset;
use crate::api::request::RateLimit;
use postrider_store::codec::rate_to_json;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Limits that suit a kind of receiver.
#[derive(Serialize, ToSchema)]
pub(crate) struct DestinationPreset {
    name: &'static str,
    description: &'static str,
    max_concurrency: u32,
    /// What is usual for such receivers, from and to.
    max_concurrency_range: [u32; 2],
    timeout_seconds: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<RateLimit>)]
    rate_limit: Option<Value>,
}

impl DestinationPreset {
    pub(crate) fn of(preset: &Preset) -> Self {
        DestinationPreset {
            name: preset.name,
            description: preset.about,
            max_concurrency: preset.max_concurrency,
            max_concurrency_range: preset.usual,
            timeout_seconds: preset.timeout_seconds,
            rate_limit: preset.rate_limit().map(rate_to_json),
        }
    }
}
