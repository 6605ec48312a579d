//! `POST /v1/destinations/{id}/handshake`: asks the receiver whether it wants to be sent events.

use super::{not_found, parse};
use crate::api::auth::Caller;
use crate::api::error::ApiError;
use crate::api::fields::Segment;
use crate::api::refusal::{Conflict, Keyed, Stored};
use crate::api::view::{self, Data};
use crate::api::{App, Shared};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::{AccountId, DestinationId};
use postrider_engine::{ChangeError, ConsentError};
use postrider_store::Destination;
use postrider_store::containment::contained;
use std::sync::Arc;

/// Ask for consent
///
/// Asks the receiver anew, by the abuse protection of CloudEvents, whether it wants to be sent events.
#[utoipa::path(
    post, path = "/v1/destinations/{id}/handshake", operation_id = "shake_hands", tag = "destinations",
    params(("id" = String, Path, description = "The id of the destination.")),
    responses((status = 200, description = "The destination as it is now.", body = Data<view::Destination>), Keyed, Conflict, Stored)
)]
pub(crate) async fn handshake(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let changed = ask(&app, caller.account, id).await?;
    app.note(caller, "destination", Some(id.to_string())).await;
    let activity = app.engine.activity_of(vec![id]).await?;
    Ok(view::data(StatusCode::OK, &view::Destination::of(&changed, activity.seen(id))))
}

/// Asks, also when the caller goes away meanwhile: what was saved must not stay without an answer.
pub(super) async fn ask(
    app: &Arc<App>,
    account: AccountId,
    id: DestinationId,
) -> Result<Destination, ApiError> {
    let asking = Arc::clone(app);
    let asked = tokio::spawn(contained(async move {
        asking.engine.shake_hands(account, id, &asking.handshake_origin).await.map_err(ApiError::from)
    }));
    match asked.await {
        Ok(Ok(answered)) => answered,
        Ok(Err(_)) | Err(_) => Err(ApiError::stopping()),
    }
}

/// For a destination that was just saved: whoever has deleted or moved it meanwhile has been answered already.
pub(super) async fn ask_first(app: &Arc<App>, saved: Destination) -> Result<Destination, ApiError> {
    let asking = Arc::clone(app);
    let new = saved.clone();
    let asked = tokio::spawn(contained(async move {
        asking.engine.shake_hands_first(&new, &asking.handshake_origin).await
    }));
    match asked.await {
        Ok(Ok(Ok(answered))) => Ok(answered),
        Ok(Ok(Err(ChangeError::Refused(_))) | Err(_)) | Err(_) => Ok(saved),
        Ok(Ok(Err(ChangeError::Store(error)))) => Err(error.into()),
    }
}

impl From<ConsentError> for ApiError {
    fn from(error: ConsentError) -> Self {
        match error {
            ConsentError::Unknown => not_found(),
            ConsentError::NotWanted => ApiError::conflict(
                "no_handshake",
                "This destination does not ask for consent; set its handshake to true first.",
            ),
            ConsentError::Moved => ApiError::conflict(
                "destination_changed",
                "The destination was changed while its receiver was asked; ask again.",
            ),
            ConsentError::Busy(busy) => busy.into(),
            ConsentError::Short(shortage) => ApiError::node_resources(shortage),
        }
    }
}
