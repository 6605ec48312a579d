//! `/v1/cluster`: the nodes that share the store, who owns what of it, and how far behind it is.

use super::auth::Caller;
use super::error::ApiError;
use super::refusal::{Keyed, Stored};
use super::view::Data;
use super::view::cluster::Cluster;
use super::{Shared, view};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

/// Get the cluster
///
/// Nodes with their leases, shards with their owners, and how long what is due waits. On an embedded store that is one
/// node which owns everything.
#[utoipa::path(
    get, path = "/v1/cluster", operation_id = "get_cluster", tag = "gateway",
    responses((status = 200, description = "Nodes and shards.", body = Data<Cluster>), Keyed, Stored)
)]
pub(crate) async fn get(State(app): Shared, _operator: Caller) -> Result<Response, ApiError> {
    let durability = app.engine.durability();
    let shown = match app.engine.cluster().await? {
        Some(state) => Cluster::of(&state, durability),
        None => Cluster::alone(&app.node, &app.engine.activity_of(Vec::new()).await?),
    };
    Ok(view::data(StatusCode::OK, &shown))
}
