//! The HTTP API: GetHook's wire under `/v1`, ingest, the doors of waford and DispatchGo, health.

mod access;
mod account_room;
mod accounts;
mod answer_room;
mod api_keys;
mod audit;
mod auth;
pub(crate) mod body;
mod body_room;
mod brand_settings;
mod cloud_event;
mod cluster;
mod cursor;
mod dead_letter_groups;
mod dead_letters;
pub(crate) mod declared;
mod deliveries;
mod destination_health;
mod destinations;
mod docs;
pub(crate) mod document;
mod elsewhere;
mod entity_tag;
mod error;
mod event_fields;
mod event_filter;
mod event_types;
mod events;
mod export;
mod fields;
mod gethook;
mod health;
mod hops;
mod ingest;
mod logo;
mod metrics;
mod outbound;
mod outer_object;
mod paging;
mod portal_sessions;
mod provider_presets;
mod public_figures;
mod queue;
mod rates;
mod refusal;
mod rejects;
mod replays;
mod request;
mod route_test;
mod routes;
mod send_window;
mod series;
mod settings;
mod sources;
mod stats;
mod stream;
mod tasks;
mod verification;
mod view;
pub(crate) mod waiting;
mod webhooks;
mod wrong_keys;

pub(crate) use auth::{ACCOUNT_HEADER, KnownKey, SignedIn, shows_key};
pub(crate) use body::BODY_DEADLINE;
pub(crate) use body_room::Held;
pub(crate) use error::{ApiError, connections_full};
pub(crate) use events::newest_cursor;
pub(crate) use ingest::{Admitted, Offer, entrance_by_token};
pub(crate) use logo::Logo;
pub(crate) use verification::SECRET_FIELDS;

use crate::config::Config;
use crate::serve::admin_key::hash;
use crate::serve::bootstrap::FirstThings;
use crate::serve::subkeys::Subkeys;
use axum::Router;
use axum::routing::get;
use http::{HeaderValue, StatusCode};
use postrider_core::destination::RateLimit;
use postrider_engine::send::DestinationUrl;
use postrider_engine::{Catalog, Engine};
use postrider_store::Change;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// What handlers share.
pub(crate) struct App {
    engine: Arc<Engine>,
    admin_hash: [u8; 32],
    subkeys: Subkeys,
    /// Of the key that opens the metrics and nothing else.
    metrics_hash: Option<[u8; 32]>,
    first: FirstThings,
    /// Of an embedded store; nodes that share one are asked for there.
    node: view::cluster::ThisNode,
    /// DispatchGo's door, when it is open.
    webhooks: Option<webhooks::Door>,
    rates: rates::Rates,
    wrong_keys: wrong_keys::WrongKeys,
    rejects: rejects::Rejects,
    /// How long events are kept at all.
    retention_days: u32,
    settings: RwLock<settings::Configured>,
    /// What ingest URLs begin with.
    public_url: String,
    /// How the gateway calls itself to receivers that must agree first.
    handshake_origin: HeaderValue,
    public_figures: public_figures::PublicFigures,
    /// Whether anyone who can reach us may make an account: only while we listen on loopback.
    open_bootstrap: bool,
}

type Shared = axum::extract::State<Arc<App>>;

impl App {
    pub(crate) fn new(
        engine: Arc<Engine>,
        config: &Config,
        address: SocketAddr,
        (admin_hash, subkeys): ([u8; 32], &Subkeys),
        first: FirstThings,
    ) -> Arc<Self> {
        let public_url = config.public_url.clone().unwrap_or_else(|| format!("http://{address}"));
        let handshake_origin = config.handshake_origin.clone().unwrap_or_else(|| host_of(&public_url));
        let opened = first.webhooks.zip(config.webhooks_secret.as_ref());
        let webhooks = opened.map(|(source, secret)| webhooks::Door::new(source, &secret.0));
        let node = view::cluster::ThisNode { name: config.node_name.clone(), since: engine.clock().now() };
        Arc::new(App {
            engine,
            node,
            admin_hash,
            subkeys: subkeys.clone(),
            metrics_hash: config.metrics_key.as_ref().map(|key| hash(&key.0)),
            first,
            webhooks,
            rates: rates::Rates::default(),
            wrong_keys: wrong_keys::WrongKeys::default(),
            rejects: rejects::Rejects::default(),
            retention_days: config.retention_days,
            settings: RwLock::new(settings::Configured::of(config)),
            public_url,
            handshake_origin,
            public_figures: public_figures::PublicFigures::new(config.public_platform_stats),
            // Whoever has a public URL stands behind a proxy: then loopback is not this machine alone.
            open_bootstrap: address.ip().is_loopback() && config.public_url.is_none(),
        })
    }

    /// Lets a key or a source be used once more, or says when it may be again: of its limit this node has its part.
    fn pass_rate(&self, id: u64, limit: Option<RateLimit>) -> Result<(), ApiError> {
        let Some(limit) = limit else { return Ok(()) };
        self.rates.pass(id, limit.among(self.engine.nodes()), self.engine.clock().now())
    }

    /// The limits of the gateway are others from now on.
    pub(crate) fn limit(&self, config: &Config) {
        self.settings.write().unwrap_or_else(PoisonError::into_inner).limit(config);
    }

    /// What this gateway is known by.
    pub(crate) fn public_url(&self) -> &str {
        &self.public_url
    }
}

/// The settings have checked the URL, so there is a host in it.
fn host_of(public_url: &str) -> HeaderValue {
    let url = DestinationUrl::parse(public_url).ok();
    let host = url.and_then(|url| HeaderValue::from_str(&url.host.to_string()).ok());
    host.unwrap_or(HeaderValue::from_static("postrider"))
}

/// Makes the one change that `decide` finds on the configuration as it is; there is nothing to answer but that.
async fn change(
    app: &App,
    caller: auth::Caller,
    decide: impl FnOnce(&Catalog) -> Result<Change, ApiError>,
) -> Result<StatusCode, ApiError> {
    app.change(caller, |catalog| Ok((vec![decide(catalog)?], ()))).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Every path, with its description: `routes!` takes no handler without one.
fn described() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(document::Api::openapi())
        .routes(routes!(ingest::by_token))
        .routes(routes!(ingest::ingress))
        .routes(routes!(webhooks::take))
        .routes(routes!(tasks::take))
        .routes(routes!(accounts::list, accounts::create))
        .routes(routes!(accounts::get, accounts::update, accounts::delete))
        .routes(routes!(api_keys::list, api_keys::create))
        .routes(routes!(api_keys::get, api_keys::update, api_keys::revoke))
        .routes(routes!(gethook::register))
        .routes(routes!(gethook::log_in))
        .routes(routes!(gethook::custom_domains, gethook::add_custom_domain))
        .routes(routes!(portal_sessions::create))
        .routes(routes!(brand_settings::get, brand_settings::update, brand_settings::patch))
        .routes(routes!(sources::list, sources::create))
        .routes(routes!(sources::get, sources::update, sources::delete))
        .routes(routes!(rejects::list))
        .routes(routes!(provider_presets::list))
        .routes(routes!(destinations::list, destinations::create))
        .routes(routes!(destinations::get, destinations::update, destinations::delete))
        .routes(routes!(destinations::circuit))
        .routes(routes!(destinations::pause))
        .routes(routes!(destinations::resume))
        .routes(routes!(destinations::keys::rotate_secret))
        .routes(routes!(destinations::keys::public_key))
        .routes(routes!(destinations::consent::handshake))
        .routes(routes!(destinations::trial::test))
        .routes(routes!(destinations::presets::list))
        .routes(routes!(routes::list, routes::create))
        .routes(routes!(routes::get, routes::update, routes::delete))
        .routes(routes!(route_test::test))
        .routes(routes!(event_types::list, event_types::create))
        .routes(routes!(event_types::get, event_types::update, event_types::delete))
        .routes(routes!(events::list))
        .routes(routes!(events::get))
        .routes(routes!(events::replay))
        .routes(routes!(elsewhere::send))
        .routes(routes!(outbound::list, outbound::create))
        .routes(routes!(outbound::get))
        .routes(routes!(outbound::replay))
        .routes(routes!(outbound::batch::create))
        .routes(routes!(deliveries::list))
        .routes(routes!(deliveries::get))
        .routes(routes!(stream::stream))
        .routes(routes!(queue::get))
        .routes(routes!(stats::account))
        .routes(routes!(stats::platform))
        .routes(routes!(series::get))
        .routes(routes!(destination_health::get))
        .routes(routes!(dead_letters::list))
        .routes(routes!(dead_letter_groups::get))
        .routes(routes!(dead_letters::discard_matching))
        .routes(routes!(export::export))
        .routes(routes!(dead_letters::get, dead_letters::discard))
        .routes(routes!(dead_letters::replay))
        .routes(routes!(replays::list, replays::create))
        .routes(routes!(replays::get, replays::update))
        .routes(routes!(audit::list))
        .routes(routes!(cluster::get))
        .routes(routes!(settings::get))
        .routes(routes!(health::healthz))
        .routes(routes!(health::health))
        .routes(routes!(health::readyz))
        .routes(routes!(metrics::get))
        .routes(routes!(document::openapi))
        .routes(routes!(docs::page))
        .routes(routes!(docs::style))
        .routes(routes!(docs::script))
}

/// The address of its own that metrics can have: they, health, and nothing else.
pub(crate) fn metrics_router(app: Arc<App>, address: SocketAddr) -> Router {
    let router = Router::new()
        .route("/metrics", get(metrics::get))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .fallback(async || ApiError::not_found("path"))
        .method_not_allowed_fallback(async || ApiError::method_not_allowed());
    let router = match address.ip().is_loopback() {
        true => router.layer(axum::Extension(auth::OnLoopback)),
        false => router,
    };
    router.with_state(app)
}

/// A path without this method is 405, any other path 404.
pub(crate) fn router(app: Arc<App>) -> Router {
    let (router, _) = described().split_for_parts();
    router
        .fallback(async || ApiError::not_found("path"))
        .method_not_allowed_fallback(async || ApiError::method_not_allowed())
        .layer(axum::middleware::from_fn(answer_room::keep))
        .with_state(app)
}
