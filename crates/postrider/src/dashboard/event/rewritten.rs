//! What the transform of a route makes of an event, as the route is now: by the preview that tries events on routes.
//! What it made of it when it was sent is not kept.

use super::detail::Event;
use super::timeline::Timeline;
use crate::dashboard::inside::{Inside, segment};
use crate::dashboard::session::Session;
use crate::dashboard::show;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

#[derive(Deserialize)]
struct Route {
    destination_id: String,
    transform: Option<String>,
}

#[derive(Deserialize)]
struct Tried {
    routes: Vec<Judged>,
}

#[derive(Deserialize)]
struct Judged {
    request: Option<Made>,
}

#[derive(Deserialize)]
struct Made {
    body: String,
    body_encoding: String,
}

/// By delivery. Those whose route leaves the event as it is are not among them, nor those that cannot be told: of a route
/// that is gone, or of a body that is no text.
pub(super) async fn bodies(
    api: &Inside,
    session: &Session,
    event: &Event,
    timeline: &Timeline,
) -> HashMap<String, String> {
    let mut bodies = HashMap::new();
    if event.body_encoding != "utf8" || event.body.len() > super::PARSED_BYTES {
        return bodies;
    }
    for delivery in &timeline.deliveries {
        let Some(route) = &delivery.route_id else { continue };
        if let Some(body) = body(api, session, event, route).await {
            bodies.insert(delivery.id.clone(), body);
        }
    }
    bodies
}

async fn body(api: &Inside, session: &Session, event: &Event, route: &str) -> Option<String> {
    let route: Route = api.get(session, &format!("/v1/routes/{}", segment(route))).await.ok()?;
    let sample = sample(event, &route.destination_id, &route.transform?);
    let tried = Tried::deserialize(api.post(session, "/v1/routes/test", &sample).await.ok()?).ok()?;
    let made = tried.routes.into_iter().find_map(|judged| judged.request)?;
    (made.body_encoding == "utf8").then_some(made.body)
}

/// The event, and a route that does nothing but rewrite it.
fn sample(event: &Event, destination: &str, transform: &str) -> Value {
    let headers: Map<String, Value> =
        event.headers.iter().map(|(name, value)| (name.clone(), json!(show::header(value)))).collect();
    let mut sample = json!({
        "payload": event.body, "headers": headers,
        "route": { "destination_id": destination, "transform": transform },
    });
    for (name, value) in [("source_id", &event.source_id), ("event_type", &event.event_type)] {
        if let Some(value) = value {
            sample[name] = json!(value);
        }
    }
    sample
}
