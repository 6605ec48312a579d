//! The dashboard: pages for people, served at `/`.
//!
//! It is a client of the API inside the process: each page asks the API as the key that signed in, so what a page can
//! show and do is what that key can. Pages are rendered here and read without scripts; `page.js` only puts in place what
//! [`live`] sends of them.

mod account;
mod accounts;
mod answer;
mod ask;
mod asked;
mod audit;
mod chart;
mod choices;
mod cli_auth;
mod clip;
mod cluster;
mod dead_letters;
mod deliveries;
mod destinations;
mod event;
mod events;
mod filled;
mod guard;
mod health;
mod inside;
mod keys;
mod live;
mod looking;
mod once;
mod overview;
mod portal;
mod provider_hint;
mod readers;
mod replays;
mod route_test;
mod routes;
mod session;
mod sessions;
mod settings;
mod show;
mod sign_in;
mod source;
mod sources;
mod tail;
mod visible;

use crate::api::App;
use crate::serve::subkeys::Subkeys;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use guard::Hosts;
use inside::Inside;
use live::Seats;
use once::Once;
use postrider_store::Store;
use sessions::{SessionKind, Sessions};
use std::sync::Arc;

/// What pages share.
struct Desk {
    api: Inside,
    app: Arc<App>,
    sessions: Sessions,
    portal: Sessions,
    hosts: Hosts,
    once: Once,
    seats: Seats,
}

type Shared = axum::extract::State<Arc<Desk>>;

/// The pages. `api` is asked for what they show.
pub(crate) fn router(api: Router, app: &Arc<App>, store: &Arc<dyn Store>, subkeys: &Subkeys) -> Router {
    let public_url = app.public_url();
    let sessions =
        |kind| Sessions::new(kind, Arc::clone(store), &subkeys.sessions, app.admin_hash(), public_url);
    let desk = Desk {
        api: Inside::new(api),
        sessions: sessions(SessionKind::Dashboard),
        portal: sessions(SessionKind::Portal),
        hosts: Hosts::new(public_url),
        once: Once::new(subkeys.once, public_url),
        seats: Seats::new(),
        app: Arc::clone(app),
    };
    let desk = Arc::new(desk);
    Router::new()
        .route("/", get(overview::page))
        .route("/sign-in", get(sign_in::page).post(sign_in::submit))
        .route("/sign-out", post(sign_in::out))
        .route("/cli-auth", get(cli_auth::page).post(cli_auth::agree))
        .route("/look", post(looking::choose))
        .route("/events", get(events::page))
        .route("/events/{id}", get(event::page))
        .route("/events/{id}/body", get(event::body))
        .route("/events/{id}/replay", post(event::replay))
        .route("/events/{id}/send", post(event::send))
        .route("/destinations", get(destinations::list).post(destinations::create))
        .route("/destinations/{id}", get(destinations::page).post(destinations::change))
        .route("/destinations/{id}/{action}", post(destinations::act))
        .route("/deliveries", get(deliveries::page))
        .route("/tail", get(tail::page))
        .route("/dead-letters", get(dead_letters::page))
        .route("/dead-letters/export", get(dead_letters::export))
        .route("/dead-letters/discard", post(dead_letters::discard))
        .route("/dead-letters/{id}/{action}", post(dead_letters::act))
        .route("/replays", get(replays::list).post(dead_letters::replay))
        .route("/replays/{id}", get(replays::page).post(replays::change))
        .route("/sources", get(sources::page).post(sources::create))
        .route("/sources/{id}", get(source::page).post(source::change))
        .route("/sources/{id}/delete", post(source::delete))
        .route("/sources/{id}/unsigned", post(source::leave_unsigned))
        .route("/routes", get(routes::list).post(routes::create))
        .route("/routes/test", get(route_test::page).post(route_test::submit))
        .route("/routes/{id}", get(routes::page).post(routes::change))
        .route("/routes/{id}/delete", post(routes::delete))
        .route("/accounts", get(accounts::page).post(accounts::create))
        .route("/accounts/{id}", get(account::page).post(account::change))
        .route("/accounts/{id}/brand", post(account::change_brand))
        .route("/accounts/{id}/portal", post(account::make_link))
        .route("/accounts/{id}/delete", post(account::delete))
        .route("/cluster", get(cluster::page))
        .route("/settings", get(settings::page))
        .route("/audit", get(audit::page))
        .route("/keys", get(keys::list).post(keys::create))
        .route("/keys/{id}", get(keys::page).post(keys::change))
        .route("/keys/{id}/revoke", post(keys::revoke))
        .route_layer(from_fn_with_state(Arc::clone(&desk), readers::leave_out))
        .route("/assets/page.css", get(answer::style))
        .route("/assets/page.js", get(answer::script))
        .route("/assets/tail.js", get(answer::tail_script))
        .route("/assets/icon.svg", get(answer::icon))
        .merge(portal::pages())
        .route_layer(from_fn_with_state(Arc::clone(&desk), live::follow))
        .route("/tail/stream", get(tail::stream))
        .with_state(desk)
}
