//! `/healthz` and `/readyz`: is the process alive, and can it take events.

use super::view::Health;
use super::{Shared, view};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use postrider_engine::{Limit, NotReady};
use postrider_store::Durability;
use postrider_store::heartbeat::{self, BEAT_EVERY, Stalled};

/// Is the process alive
#[utoipa::path(
    get, path = "/healthz", operation_id = "healthz", tag = "gateway",
    security(()),
    responses(
        (status = 200, description = "It is.", body = Health),
        (status = 503, description = "A thread that it cannot live without hangs.", body = Health),
    )
)]
pub(crate) async fn healthz() -> Response {
    let Some(Stalled { name, silent_for }) = stalled().await else {
        return view::json(
            StatusCode::OK,
            &Health { status: "ok", code: None, reason: None, durability: None },
        );
    };
    let reason = Some(format!("{name} has given no sign of life for {} s", silent_for.as_secs()));
    let health = Health { status: "stalled", code: Some("stalled"), reason, durability: None };
    view::json(StatusCode::SERVICE_UNAVAILABLE, &health)
}

/// Of a process that was frozen as a whole all have been silent, and give a sign within moments: it is looked at twice.
async fn stalled() -> Option<Stalled> {
    heartbeat::stalled()?;
    tokio::time::sleep(2 * BEAT_EVERY).await;
    heartbeat::stalled()
}

/// The same, where DispatchGo has it
#[utoipa::path(
    get, path = "/health", operation_id = "health", tag = "gateway",
    security(()),
    responses(
        (status = 200, description = "It is.", body = Health),
        (status = 503, description = "A thread that it cannot live without hangs.", body = Health),
    )
)]
pub(crate) async fn health() -> Response {
    healthz().await
}

/// Can the gateway take events
#[utoipa::path(
    get, path = "/readyz", operation_id = "readyz", tag = "gateway",
    security(()),
    responses(
        (status = 200, description = "It can.", body = Health),
        (status = 503, description = "It cannot, and why.", body = Health),
    )
)]
pub(crate) async fn readyz(State(app): Shared) -> Response {
    let durability = app.engine.durability().map(Durability::as_str);
    match app.engine.readiness() {
        Ok(()) => {
            view::json(StatusCode::OK, &Health { status: "ready", code: None, reason: None, durability })
        }
        Err(error) => not_ready(error, durability),
    }
}

pub(super) fn not_ready(error: NotReady, durability: Option<&'static str>) -> Response {
    let (code, reason) = (Some(code(error)), Some(error.to_string()));
    let health = Health { status: "not ready", code, reason, durability };
    view::json(StatusCode::SERVICE_UNAVAILABLE, &health)
}

fn code(error: NotReady) -> &'static str {
    match error {
        NotReady::Stopping => "stopping",
        NotReady::Broken => "broken",
        NotReady::DiskFull => "disk_full",
        NotReady::StoreAway => "store_unavailable",
        NotReady::NoLease => "no_lease",
        // Events are refused as overloaded; whoever looks at the gateway must look at its store.
        NotReady::Backlog(Limit::Commit) => "store_slow",
        NotReady::Backlog(_) => "overloaded",
    }
}
