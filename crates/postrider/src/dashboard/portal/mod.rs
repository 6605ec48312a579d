//! The portal: pages at `/portal` for the users of one account, who come by a link that the account has made for them.
//!
//! A link carries a key of scope `portal`. What that key may not do, no page here can: each asks the API, as those of the
//! dashboard do. They wear the account's brand and say nothing of the gateway's operator.

mod brand;
mod dead_letters;
mod destination;
mod destinations;
mod entry;
mod event;
mod events;
mod frame;
mod guest;
mod logo;

use super::{Desk, answer};
use axum::Router;
use axum::routing::{get, post};
use std::sync::Arc;

pub(super) fn pages() -> Router<Arc<Desk>> {
    Router::new()
        .route("/portal", get(entry::page).post(entry::submit))
        .route("/portal/leave", post(entry::leave))
        .route("/portal/destinations", get(destinations::page).post(destinations::create))
        .route("/portal/destinations/{id}", get(destination::page).post(destination::change))
        .route("/portal/destinations/{id}/{action}", post(destination::act))
        .route("/portal/destinations/{id}/routes/{route}", post(destination::remove_route))
        .route("/portal/events", get(events::page))
        .route("/portal/events/{id}", get(event::page))
        .route("/portal/events/{id}/replay", post(event::replay))
        .route("/portal/dead-letters", get(dead_letters::page))
        .route("/portal/dead-letters/{id}/replay", post(dead_letters::replay))
        .route("/portal/brand.css", get(brand::style))
        .route("/portal/logo", get(logo::picture))
        .route("/assets/portal.css", get(answer::portal_style))
        .route("/assets/portal.js", get(answer::portal_script))
}
