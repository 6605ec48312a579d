//! What a run plays on: sources, destinations of every kind, and who posts what.

mod plot;

use crate::api::Api;
use crate::history::{Destination, Limit, Line, SECOND};
use crate::load::{PRODUCERS, Rate};
use crate::producer::Order;
use crate::sink::{RETRY_DELAY, Sink};
use anyhow::Context as _;
use plot::{KINDS, PLOT, Part, Whose};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Of every destination.
const TIMEOUT_SECONDS: u64 = 3;

/// The paths of all destinations, in their order.
pub fn paths() -> Vec<&'static str> {
    PLOT.iter().map(|part| part.path).collect()
}

/// What was set up at a gateway.
pub struct Stage {
    /// The first account and its neighbour.
    pub apis: [Api; 2],
    /// The ids of destinations, in their order.
    pub ids: Vec<String>,
    /// Where each account posts to.
    ingest: [String; 2],
    limits: Mutex<Vec<Vec<Limit>>>,
}

impl Stage {
    /// Makes everything at a gateway where nothing is yet.
    pub fn set_up(admin: &Api, sink: &Sink) -> anyhow::Result<Stage> {
        let account = json!({ "name": "neighbour" });
        let made = admin.call("POST", "/v1/accounts", &account)?;
        let key = made["api_key"]["key"].as_str().context("an account comes with a key")?.to_owned();
        let apis = [admin.clone(), admin.with_key(&key)];
        let source = |api: &Api| {
            let token = api.text("POST", "/v1/sources", &json!({ "name": "torture" }), "path_token")?;
            anyhow::Ok(format!("/ingest/{token}"))
        };
        let ingest = [source(&apis[0])?, source(&apis[1])?];
        let mut ids = Vec::new();
        for part in PLOT {
            ids.push(make(&apis[part.whose as usize], part, &sink.url(part.path))?);
        }
        let limits = PLOT.iter().map(|part| vec![Limit { from: 0, max_concurrency: part.max_concurrency }]);
        Ok(Stage { apis, ids, ingest, limits: Mutex::new(limits.collect()) })
    }

    /// The account that a destination is of.
    pub fn api_of(&self, destination: usize) -> &Api {
        &self.apis[PLOT[destination].whose as usize]
    }

    /// The place of a destination by its id.
    pub fn index_of(&self, id: &str) -> Option<usize> {
        self.ids.iter().position(|known| known == id)
    }

    /// Whether such events are of the first account.
    pub fn is_of_first(&self, kind: u8) -> bool {
        KINDS[usize::from(kind)].whose == Whose::First
    }

    /// What a destination's limit is when nobody has changed it.
    pub fn usual_limit(&self, destination: usize) -> u32 {
        PLOT[destination].max_concurrency
    }

    /// Writes down that another limit holds.
    pub fn limit(&self, destination: usize, limit: Limit) {
        self.limits()[destination].push(limit);
    }

    fn limits(&self) -> MutexGuard<'_, Vec<Vec<Limit>>> {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As the judge sees them, with what their limits were when.
    pub fn destinations(&self) -> Vec<Destination> {
        let limits = self.limits().clone();
        let seen = |(part, limits): (&Part, Vec<Limit>)| Destination {
            name: part.path.to_owned(),
            kinds: part.kinds.iter().map(|(kind, _)| *kind).collect(),
            line: part.line,
            limits,
            timeout: TIMEOUT_SECONDS * SECOND,
            attempts_max: part.attempts_max,
        };
        PLOT.iter().zip(limits).map(seen).collect()
    }

    /// Who posts what: of each eight, seven for the first account and one for the neighbour.
    pub fn orders(&self, addresses: &[SocketAddr], seed: u64, rate: Rate) -> Vec<Order> {
        let (apart, times_usual) = (rate.apart(), rate.times_usual());
        let order = |number: u16| {
            let is_last = (u32::from(number) + 1).is_multiple_of(PRODUCERS);
            let whose = if is_last { Whose::Neighbour } else { Whose::First };
            let kinds = KINDS.iter().filter(|kind| kind.whose == whose);
            let kinds =
                kinds.flat_map(|kind| vec![(kind.number, kind.event_type); kind.share_at(rate)]).collect();
            let path = self.ingest[whose as usize].clone();
            let seed = seed ^ (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let first_after = apart * u32::from(number) / rate.producers();
            Order {
                addresses: addresses.to_vec(),
                path,
                kinds,
                times_usual,
                apart,
                first_after,
                number,
                seed,
            }
        };
        (0..rate.producers() as u16).map(order).collect()
    }
}

/// Makes a destination and a route for each kind that it is owed; gives its id.
fn make(api: &Api, part: &Part, url: &str) -> anyhow::Result<String> {
    let id = api.text("POST", "/v1/destinations", &settings(part, url), "id")?;
    for (kind, priority) in part.kinds {
        let event_type = KINDS[usize::from(*kind)].event_type;
        let route = json!({ "destination_id": id, "event_type_pattern": event_type, "priority": priority });
        api.call("POST", "/v1/routes", &route)?;
    }
    Ok(id)
}

fn settings(part: &Part, url: &str) -> Value {
    let policy = json!({
        "delays_seconds": [RETRY_DELAY.as_secs_f64()], "max_attempts": part.attempts_max, "jitter": "none",
    });
    let mut settings = json!({
        "name": part.path.trim_start_matches('/'), "url": url, "timeout_seconds": TIMEOUT_SECONDS,
        "max_concurrency": part.max_concurrency, "retry_policy": policy,
        "circuit": { "threshold": part.circuit_threshold, "cooldown_seconds": 1, "cooldown_max_seconds": 2 },
    });
    match part.line {
        Line::Unordered => {}
        Line::Strict => settings["ordering"] = json!("strict"),
        Line::ByKey => {
            settings["ordering"] = json!("by_key");
            settings["ordering_key"] = json!("payload.producer");
        }
    }
    if part.line != Line::Unordered {
        settings["on_dead_letter"] = json!("skip");
    }
    settings
}
