//! `GET /v1/destination-presets`: limits that suit common kinds of receivers, to begin with.
//!
//! Rates are those that the providers publish, or below; a receiver that asks for less by 429 is obeyed all the same.

use crate::api::error::ApiError;
use crate::api::fields::Fields;
use crate::api::view::{self, Data};
use axum::response::Response;
use http::StatusCode;
use postrider_core::destination::{MaxConcurrency, RateLimit, TimeoutSeconds};
use postrider_store::Destination;

/// Values for a kind of receiver. They are copied when the preset is chosen; nothing follows them afterwards.
pub(crate) struct Preset {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) max_concurrency: u32,
    /// What is usual for such receivers.
    pub(crate) usual: [u32; 2],
    /// A second, and at once.
    pub(crate) rate: Option<(f64, u32)>,
    pub(crate) timeout_seconds: u32,
}

const fn preset(
    name: &'static str,
    about: &'static str,
    max_concurrency: u32,
    usual: [u32; 2],
    rate: Option<(f64, u32)>,
    timeout_seconds: u32,
) -> Preset {
    Preset { name, about, max_concurrency, usual, rate, timeout_seconds }
}

const PRESETS: [Preset; 14] = [
    preset("internal", "A service of your own in the same network.", 20, [20, 50], None, 10),
    preset("cross_region", "A service of your own, far away.", 8, [5, 10], None, 20),
    preset("third_party", "Somebody else's API with known limits.", 2, [1, 3], None, 15),
    preset("unknown", "A receiver that nothing is known of.", 3, [3, 3], None, 15),
    preset("shared_hosting", "A small site on shared hosting.", 1, [1, 2], None, 30),
    preset("serverless", "A function that scales by itself and may start cold.", 10, [5, 50], None, 30),
    preset("slack", "Slack incoming webhooks: one message a second.", 1, [1, 1], Some((1.0, 1)), 10),
    preset(
        "discord",
        "Discord webhooks: thirty messages a minute in a channel.",
        1,
        [1, 1],
        Some((0.5, 1)),
        10,
    ),
    preset(
        "teams",
        "Microsoft Teams incoming webhooks: four requests a second.",
        1,
        [1, 2],
        Some((4.0, 1)),
        15,
    ),
    preset("pagerduty", "PagerDuty Events API v2: 120 events a minute.", 2, [1, 3], Some((2.0, 1)), 15),
    preset("hubspot", "HubSpot: 100 requests in ten seconds.", 3, [1, 5], Some((10.0, 1)), 15),
    preset("zapier", "Zapier catch hooks; above its limits they respond 429.", 3, [1, 5], None, 30),
    preset("salesforce", "Salesforce; its limit is by the day, few requests at once.", 3, [1, 5], None, 30),
    preset("make", "Make custom webhooks: thirty requests a second.", 3, [1, 5], Some((30.0, 1)), 40),
];

/// List destination presets
///
/// Limits that suit common kinds of receivers; the values are copied into a destination that names one.
#[utoipa::path(
    get, path = "/v1/destination-presets", operation_id = "list_destination_presets", tag = "destinations",
    security(()),
    responses((status = 200, description = "All presets.", body = Data<Vec<view::DestinationPreset>>))
)]
pub(crate) async fn list() -> Response {
    let shown: Vec<_> = PRESETS.iter().map(view::DestinationPreset::of).collect();
    view::data(StatusCode::OK, &shown)
}

/// Copies the values of the preset that the caller names; fields of the same call go over them.
pub(super) fn take_preset(mut into: Destination, fields: &mut Fields) -> Result<Destination, ApiError> {
    if !fields.mentions("preset") {
        return Ok(into);
    }
    let names = || PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
    let found = |name: &str| PRESETS.iter().find(|preset| preset.name == name);
    let chosen = fields.word("preset", found, &format!("must be one of {}", names()))?;
    into.preset = chosen.map(|preset| preset.name.to_owned());
    if let Some(preset) = chosen {
        into.max_concurrency = preset.max_concurrency();
        into.timeout = preset.timeout();
        into.rate_limit = preset.rate_limit();
    }
    Ok(into)
}

impl Preset {
    fn max_concurrency(&self) -> MaxConcurrency {
        MaxConcurrency::new(self.max_concurrency.into()).unwrap_or_default()
    }

    fn timeout(&self) -> TimeoutSeconds {
        TimeoutSeconds::new(self.timeout_seconds.into()).unwrap_or_default()
    }

    pub(crate) fn rate_limit(&self) -> Option<RateLimit> {
        self.rate.and_then(|(per_second, burst)| RateLimit::new(per_second, Some(burst.into())).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_legal_and_has_a_name_of_its_own() {
        for preset in &PRESETS {
            assert_eq!(preset.max_concurrency().get(), preset.max_concurrency, "{}", preset.name);
            assert_eq!(preset.timeout().get(), preset.timeout_seconds, "{}", preset.name);
            assert_eq!(preset.rate_limit().is_some(), preset.rate.is_some(), "{}", preset.name);
            assert!((preset.usual[0]..=preset.usual[1]).contains(&preset.max_concurrency), "{}", preset.name);
            assert_eq!(PRESETS.iter().filter(|other| other.name == preset.name).count(), 1);
        }
    }
}
