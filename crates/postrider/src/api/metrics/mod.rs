//! `/metrics`: what the gateway does, in numbers that Prometheus reads.

mod counted;
mod exposition;
mod process;
mod queue;

use super::auth::Watcher;
use super::body_room::{PURPOSES, taken};
use super::refusal::{Keyed, Stored};
use super::{App, Shared};
use crate::serve::room;
use axum::extract::State;
use axum::response::Response;
use exposition::{Exposition, Kind};
use http::header::{CONTENT_TYPE, HeaderValue};
use postrider_engine::StoreHealth;
use std::sync::atomic::Ordering::Relaxed;

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Get the metrics
///
/// In the text format of Prometheus. With the metrics key or an admin key; without one for this machine alone, while the
/// address is on loopback and there is no public URL.
#[utoipa::path(
    get, path = "/metrics", operation_id = "get_metrics", tag = "gateway",
    security((), ("bearer" = [])),
    responses((status = 200, description = "The metrics.", body = String, content_type = "text/plain"), Keyed, Stored)
)]
pub(crate) async fn get(State(app): Shared, _: Watcher) -> Response {
    let mut response = Response::new(text(&app).await.into());
    response.headers_mut().insert(CONTENT_TYPE, TEXT);
    response
}

async fn text(app: &App) -> String {
    let queue = app.engine.queue().await;
    let (meters, catalog) = (app.engine.meters(), app.engine.catalog());
    let mut text = Exposition::default();
    let help = "1 with the version that runs.";
    text.family("postrider_build_info", Kind::Gauge, help)
        .sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    let ready = app.engine.readiness().is_ok();
    text.gauge("postrider_ready", "1 when events can be accepted, else 0.", u8::from(ready));
    queue::write(&mut text, &queue, &catalog);
    counted::write(&mut text, meters, &queue.totals.counters, &catalog);
    store(&mut text, app.engine.store_health());
    connections(&mut text);
    process::write(&mut text);
    text.into_text()
}

fn connections(text: &mut Exposition) {
    let [opened, closed, dropped, refused] =
        [&room::OPENED, &room::CLOSED, &room::DROPPED, &room::REFUSED].map(|count| count.load(Relaxed));
    let help = "Connections of clients that are open.";
    text.gauge("postrider_connections", help, opened.saturating_sub(closed));
    let help = "Bytes of request heads, bodies and responses in memory, by owner.";
    let mut held = text.family("postrider_request_memory_bytes", Kind::Gauge, help);
    PURPOSES.iter().zip(taken()).for_each(|(whose, bytes)| held.sample(&[("of", whose)], bytes));
    let help = "Connections that were closed to make room, idle ones by dropped, new ones by refused.";
    let mut shed = text.family("postrider_connections_shed_total", Kind::Counter, help);
    shed.sample(&[("how", "dropped")], dropped);
    shed.sample(&[("how", "refused")], refused);
}

fn store(text: &mut Exposition, health: &StoreHealth) {
    let space = health.space();
    text.gauge("postrider_store_bytes", "Size of the store.", space.used_bytes);
    // A database does not say how much room it has left.
    let mut free = text.family("postrider_disk_free_bytes", Kind::Gauge, "Free space of the data directory.");
    space.free_bytes.iter().for_each(|bytes| free.sample(&[], bytes));
    let help = "Free space below which no event is accepted.";
    let mut reserve = text.family("postrider_disk_reserve_bytes", Kind::Gauge, help);
    space.reserve_bytes.iter().for_each(|bytes| reserve.sample(&[], bytes));
    text.gauge(
        "postrider_store_writable",
        "1 when the store can be written, else 0.",
        u8::from(health.is_writable()),
    );
}
