//! Tenants do not see each other: what is another's is not there.

use crate::rig::{Api, Gateway, Sink, Site, api::text};
use serde_json::{Value, json};

/// A tenant with one of everything.
struct Tenant {
    api: Api,
    source: String,
    destination: String,
    route: String,
    key: String,
    event: String,
}

fn tenant(gateway: &Gateway, sink: &Sink, name: &str) -> Tenant {
    let made = gateway.api().with_key("").post("/v1/accounts", &json!({ "name": name })).data(201);
    let api = gateway.api().with_key(&text(&made["api_key"]["key"]));
    let (source, path) = api.source();
    let destination =
        api.make("/v1/destinations", &json!({ "name": name, "url": sink.url(&format!("/{name}")) }));
    let route = api.make("/v1/routes", &json!({ "destination_id": destination }));
    let key = api.make("/v1/api-keys", &json!({ "name": name }));
    let event = api.send(&path, &[], name.as_bytes());
    api.event_once(&event, "delivered");
    Tenant { api, source, destination, route, key, event }
}

#[test]
fn what_is_another_tenants_is_not_there() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let (ours, theirs) = (tenant(&gateway, &sink, "ours"), tenant(&gateway, &sink, "theirs"));
    let before = everything(&theirs.api);
    for (method, path) in [
        ("GET", format!("/v1/sources/{}", theirs.source)),
        ("DELETE", format!("/v1/sources/{}", theirs.source)),
        ("GET", format!("/v1/destinations/{}", theirs.destination)),
        ("PATCH", format!("/v1/destinations/{}", theirs.destination)),
        ("DELETE", format!("/v1/destinations/{}", theirs.destination)),
        ("POST", format!("/v1/destinations/{}/pause", theirs.destination)),
        ("POST", format!("/v1/destinations/{}/resume", theirs.destination)),
        ("POST", format!("/v1/destinations/{}/rotate-secret", theirs.destination)),
        ("GET", format!("/v1/destinations/{}/public-key", theirs.destination)),
        ("POST", format!("/v1/destinations/{}/handshake", theirs.destination)),
        ("POST", format!("/v1/destinations/{}/test", theirs.destination)),
        ("GET", format!("/v1/routes/{}", theirs.route)),
        ("PATCH", format!("/v1/routes/{}", theirs.route)),
        ("DELETE", format!("/v1/routes/{}", theirs.route)),
        ("DELETE", format!("/v1/api-keys/{}", theirs.key)),
        ("GET", format!("/v1/events/{}", theirs.event)),
        ("POST", format!("/v1/events/{}/replay", theirs.event)),
    ] {
        let nobodys = format!("{}0000000000000{}", &path[..path.find('_').unwrap() + 1], after_id(&path));
        let (answer, nothing) =
            (ours.api.call(method, &path, &[], b"{}"), ours.api.call(method, &nobodys, &[], b"{}"));
        assert_eq!(answer.refusal(404), nothing.refusal(404), "{method} {path} looks like an id of nobody");
    }
    assert_eq!(everything(&theirs.api), before, "nothing of theirs has changed");
    assert_eq!(sink.arrivals_at("/theirs").len(), 1, "and nothing was sent for them");
}

fn after_id(path: &str) -> &str {
    let id = path.find('_').unwrap();
    path[id..].find('/').map_or("", |slash| &path[id + slash..])
}

#[test]
fn a_route_cannot_lead_from_or_to_another_tenant() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let (ours, theirs) = (tenant(&gateway, &sink, "ours"), tenant(&gateway, &sink, "theirs"));
    for (body, nobodys, field) in [
        (
            json!({ "destination_id": theirs.destination }),
            json!({ "destination_id": "dst_0000000000000" }),
            "destination_id",
        ),
        (
            json!({ "destination_id": ours.destination, "source_id": theirs.source }),
            json!({ "destination_id": ours.destination, "source_id": "src_0000000000000" }),
            "source_id",
        ),
    ] {
        let (answer, nothing) = (ours.api.post("/v1/routes", &body), ours.api.post("/v1/routes", &nobodys));
        assert!(answer.refusal(422).contains(field), "{answer}");
        assert_eq!(answer.refusal(422), nothing.refusal(422));
    }
    assert_eq!(ours.api.get("/v1/routes").data(200).as_array().unwrap().len(), 1);
}

#[test]
fn lists_hold_only_what_is_the_tenants_own() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let (ours, theirs) = (tenant(&gateway, &sink, "ours"), tenant(&gateway, &sink, "theirs"));
    let all = everything(&ours.api).to_string();
    for own in [&ours.source, &ours.destination, &ours.route, &ours.key, &ours.event] {
        assert!(all.contains(own.as_str()), "{own} is not in {all}");
    }
    for other in [&theirs.source, &theirs.destination, &theirs.route, &theirs.key, &theirs.event] {
        assert!(!all.contains(other.as_str()), "{other} is in {all}");
    }
    let by_their_source = ours.api.get(&format!("/v1/events?source_id={}", theirs.source)).data(200);
    assert_eq!((&by_their_source["items"], &by_their_source["total"]), (&json!([]), &json!(0)));
    assert_eq!(sink.arrivals_at("/ours").len(), 1);
    assert_eq!(sink.arrivals_at("/ours")[0].body, b"ours");
    assert_eq!(sink.arrivals_at("/theirs")[0].body, b"theirs");
}

/// But for when its keys were used, which looking changes.
fn everything(api: &Api) -> Value {
    let paths = ["accounts", "api-keys", "sources", "destinations", "routes", "events"];
    let mut all: Vec<Value> = paths.iter().map(|path| api.get(&format!("/v1/{path}")).data(200)).collect();
    for key in all[1].as_array_mut().into_iter().flatten() {
        key.as_object_mut().unwrap().remove("last_used_at");
    }
    all.into()
}
