//! What is answered while the gateway starts and waits for its database: it lives, and can do nothing yet.

use super::error::ApiError;
use super::health::{healthz, not_ready};
use axum::Router;
use axum::routing::get;
use postrider_engine::{IngestError, NotReady};

/// In place of everything that needs the store.
pub(crate) fn router() -> Router {
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(async || not_ready(NotReady::StoreAway, None)))
        .fallback(async || ApiError::from(IngestError::Unavailable))
}
