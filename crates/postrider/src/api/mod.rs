//! The HTTP API: GetHook's wire under `/v1`, ingest, waford's door, health.

mod accounts;
mod api_keys;
mod auth;
mod body;
mod dead_letters;
mod destinations;
mod error;
mod event_fields;
mod events;
mod export;
mod fields;
mod health;
mod ingest;
mod replays;
mod routes;
mod sources;
mod verification;
mod view;

use crate::config::Config;
use crate::serve::bootstrap::FirstThings;
use axum::Router;
use axum::routing::{delete, get, post};
use error::ApiError;
use http::StatusCode;
use postrider_engine::{Catalog, Engine};
use postrider_store::Change;
use std::net::SocketAddr;
use std::sync::Arc;

/// What handlers share.
pub(crate) struct App {
    engine: Arc<Engine>,
    admin_hash: [u8; 32],
    first: FirstThings,
    /// What ingest URLs begin with.
    public_url: String,
    /// Whether anyone who can reach us may make an account: only while we listen on loopback.
    open_bootstrap: bool,
}

type Shared = axum::extract::State<Arc<App>>;

impl App {
    pub(crate) fn new(
        engine: Arc<Engine>,
        config: &Config,
        address: SocketAddr,
        admin_hash: [u8; 32],
        first: FirstThings,
    ) -> Arc<Self> {
        let public_url = config.public_url.clone().unwrap_or_else(|| format!("http://{address}"));
        Arc::new(App { engine, admin_hash, first, public_url, open_bootstrap: address.ip().is_loopback() })
    }
}

/// Makes the one change that `decide` finds on the configuration as it is; there is nothing to answer but that.
async fn change(
    app: &App,
    decide: impl FnOnce(&Catalog) -> Result<Change, ApiError>,
) -> Result<StatusCode, ApiError> {
    app.engine.change(|catalog| Ok::<_, ApiError>((vec![decide(catalog)?], ()))).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Every path. A path without this method is 405, any other path 404.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/ingest/{token}", post(ingest::by_token))
        .route("/ingress", post(ingest::ingress))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/v1/accounts", get(accounts::list).post(accounts::create))
        .route("/v1/accounts/{id}", get(accounts::get).patch(accounts::update))
        .route("/v1/api-keys", get(api_keys::list).post(api_keys::create))
        .route("/v1/api-keys/{id}", delete(api_keys::revoke))
        .route("/v1/sources", get(sources::list).post(sources::create))
        .route("/v1/sources/{id}", get(sources::get).patch(sources::update).delete(sources::delete))
        .route("/v1/provider-presets", get(sources::presets))
        .route("/v1/destinations", get(destinations::list).post(destinations::create))
        .route(
            "/v1/destinations/{id}",
            get(destinations::get).patch(destinations::update).delete(destinations::delete),
        )
        .route("/v1/destinations/{id}/circuit", post(destinations::circuit))
        .route("/v1/destinations/{id}/pause", post(destinations::pause))
        .route("/v1/destinations/{id}/resume", post(destinations::resume))
        .route("/v1/destinations/{id}/rotate-secret", post(destinations::rotate_secret))
        .route("/v1/routes", get(routes::list).post(routes::create))
        .route("/v1/routes/{id}", get(routes::get).patch(routes::update).delete(routes::delete))
        .route("/v1/events", get(events::list))
        .route("/v1/events/{id}", get(events::get))
        .route("/v1/events/{id}/replay", post(events::replay))
        .route("/v1/dead-letters", get(dead_letters::list))
        .route("/v1/dead-letters/discard", post(dead_letters::discard_matching))
        .route("/v1/dead-letters/export", get(export::export))
        .route("/v1/dead-letters/{id}", get(dead_letters::get).delete(dead_letters::discard))
        .route("/v1/dead-letters/{id}/replay", post(dead_letters::replay))
        .route("/v1/replays", get(replays::list).post(replays::create))
        .route("/v1/replays/{id}", get(replays::get).patch(replays::update))
        .fallback(async || ApiError::not_found("path"))
        .method_not_allowed_fallback(async || ApiError::method_not_allowed())
        .with_state(app)
}
