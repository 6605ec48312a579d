//! A provider whose signatures need no more than their secret.

use super::source::FieldPlace;
use super::word::PresetNeeds;
use postrider_engine::verify::{Needs, Preset};
use serde::Serialize;
use utoipa::ToSchema;

/// How a provider signs.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProviderPreset {
    /// What `provider` of a source is set to.
    #[schema(value_type = String, example = "github")]
    name: &'static str,
    /// The header with the signature.
    #[schema(value_type = String)]
    header: &'static str,
    /// What is signed and how, in words.
    #[schema(value_type = String)]
    signed: &'static str,
    /// What `verification_config.secret` must be.
    #[schema(value_type = PresetNeeds)]
    needs: &'static str,
    /// How far the time of a signature may be from now; `null` when the provider sends none.
    tolerance_seconds: Option<u64>,
    /// Where the type of an event is; `null` when the provider tells none.
    event_type_from: Option<FieldPlace>,
    /// Where the idempotency key is; `null` when the provider tells none.
    idempotency_key_from: Option<FieldPlace>,
    /// Whether questions of the provider are answered and not stored.
    answers_challenge: bool,
    /// How to set it up.
    #[schema(value_type = String)]
    setup: &'static str,
}

impl ProviderPreset {
    pub(crate) fn of(preset: &Preset) -> Self {
        let needs = match preset.needs {
            Needs::Token | Needs::Secret => "secret",
            Needs::PublicKey => "public_key",
            Needs::SecretOrPublicKey => "secret_or_public_key",
        };
        ProviderPreset {
            name: preset.name,
            header: preset.header,
            signed: preset.signed,
            needs,
            tolerance_seconds: preset.tolerance_seconds,
            event_type_from: preset.event_type_from.as_ref().map(FieldPlace::of),
            idempotency_key_from: preset.idempotency_key_from.as_ref().map(FieldPlace::of),
            answers_challenge: preset.challenge.is_some(),
            setup: preset.setup,
        }
    }
}
