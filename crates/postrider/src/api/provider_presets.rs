//! `/v1/provider-presets`: the providers whose signatures need no more than their secret.

use super::view::{self, Data, ProviderPreset};
use axum::response::Response;
use http::StatusCode;
use postrider_engine::verify::PRESETS;

/// List provider presets
///
/// How known providers sign, and how to set each of them up.
#[utoipa::path(
    get, path = "/v1/provider-presets", operation_id = "list_provider_presets", tag = "sources",
    security(()),
    responses((status = 200, description = "All of them, by name.", body = Data<Vec<ProviderPreset>>))
)]
pub(crate) async fn list() -> Response {
    let shown: Vec<ProviderPreset> = PRESETS.iter().map(ProviderPreset::of).collect();
    view::data(StatusCode::OK, &shown)
}
