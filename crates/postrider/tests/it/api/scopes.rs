//! Who may make which call: every call of the description with every kind of key, and with another tenant's ids.

use super::dead_letters::{dead, hopeless};
use super::document::calls;
use super::replays::once;
use crate::rig::api::text;
use crate::rig::client::request;
use crate::rig::stream::that_ends;
use crate::rig::{Answer, Api, Sink, Site, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a call is for; the description must have no other.
const PLACES: &[(&str, &[&str])] = &[
    (
        "open",
        &[
            "GET /healthz",
            "GET /health",
            "GET /readyz",
            "GET /metrics",
            "GET /openapi.json",
            "GET /docs",
            "GET /docs/page.css",
            "GET /docs/page.js",
            "POST /ingest/{token}",
            "POST /ingress",
            "POST /webhooks",
            "POST /tasks",
            "POST /v1/auth/register",
            "POST /v1/auth/login",
            "GET /v1/provider-presets",
            "GET /v1/destination-presets",
            "POST /v1/accounts",
            "GET /v1/destination-presets",
        ],
    ),
    ("send", &["POST /v1/outbound-events", "POST /v1/events/batch"]),
    (
        "look",
        &[
            "GET /v1/brand-settings",
            "GET /v1/sources",
            "GET /v1/sources/{id}",
            "GET /v1/destinations",
            "GET /v1/destinations/{id}",
            "GET /v1/destinations/{id}/public-key",
            "GET /v1/routes",
            "GET /v1/routes/{id}",
            "POST /v1/routes/test",
            "GET /v1/event-types",
            "GET /v1/event-types/{id}",
            "GET /v1/events",
            "GET /v1/events/{id}",
            "GET /v1/outbound-events",
            "GET /v1/outbound-events/{id}",
            "GET /v1/deliveries",
            "GET /v1/deliveries/{id}",
            "GET /v1/stream",
            "GET /v1/queue",
            "GET /v1/stats/destinations",
            "GET /v1/stats",
            "GET /v1/platform-stats",
            "GET /v1/dead-letters",
            "GET /v1/dead-letters/groups",
            "GET /v1/dead-letters/{id}",
        ],
    ),
    (
        "read",
        &[
            "GET /v1/accounts",
            "GET /v1/accounts/{id}",
            "GET /v1/api-keys",
            "GET /v1/api-keys/{id}",
            "GET /v1/audit",
            "GET /v1/custom-domains",
            "GET /v1/sources/{id}/rejects",
            "GET /v1/dead-letters/export",
            "GET /v1/replays",
            "GET /v1/replays/{id}",
        ],
    ),
    (
        "tend",
        &[
            "POST /v1/destinations",
            "PATCH /v1/destinations/{id}",
            "DELETE /v1/destinations/{id}",
            "POST /v1/destinations/{id}/pause",
            "POST /v1/destinations/{id}/resume",
            "POST /v1/destinations/{id}/rotate-secret",
            "POST /v1/destinations/{id}/handshake",
            "POST /v1/destinations/{id}/test",
            "POST /v1/routes",
            "PATCH /v1/routes/{id}",
            "DELETE /v1/routes/{id}",
            "POST /v1/events/{id}/replay",
            "POST /v1/outbound-events/{id}/replay",
            "POST /v1/dead-letters/{id}/replay",
        ],
    ),
    (
        "manage",
        &[
            "PATCH /v1/accounts/{id}",
            "POST /v1/api-keys",
            "PATCH /v1/api-keys/{id}",
            "DELETE /v1/api-keys/{id}",
            "POST /v1/portal-sessions",
            "POST /v1/brand-settings",
            "POST /v1/custom-domains",
            "PATCH /v1/brand-settings",
            "POST /v1/sources",
            "PATCH /v1/sources/{id}",
            "DELETE /v1/sources/{id}",
            "POST /v1/event-types",
            "POST /v1/events/{id}/send",
            "PATCH /v1/event-types/{id}",
            "DELETE /v1/event-types/{id}",
            "POST /v1/destinations/{id}/circuit",
            "DELETE /v1/dead-letters/{id}",
            "POST /v1/dead-letters/discard",
            "POST /v1/replays",
            "PATCH /v1/replays/{id}",
        ],
    ),
    ("operate", &["DELETE /v1/accounts/{id}", "GET /v1/cluster", "GET /v1/settings", "GET /v1/stats/series"]),
];

/// Which scopes may, and the one that a refusal names.
fn allowed(place: &str) -> (&'static [&'static str], &'static str) {
    match place {
        "send" => (&["admin", "account", "ingest"], "ingest"),
        "look" => (&["admin", "account", "read", "portal"], "read"),
        "read" => (&["admin", "account", "read"], "read"),
        "tend" => (&["admin", "account", "portal"], "account"),
        "manage" => (&["admin", "account"], "account"),
        "operate" => (&["admin"], "admin"),
        other => panic!("{other} is no place"),
    }
}

fn place(method: &str, path: &str) -> &'static str {
    let call = format!("{method} {path}");
    let found = PLACES.iter().find(|(_, calls)| calls.contains(&call.as_str()));
    found.unwrap_or_else(|| panic!("say in PLACES who may make {call}")).0
}

/// The path with an id of nobody.
fn nobodys(path: &str) -> String {
    let known = [
        ("/v1/accounts/", "acc_"),
        ("/v1/api-keys/", "key_"),
        ("/v1/sources/", "src_"),
        ("/v1/destinations/", "dst_"),
        ("/v1/routes/", "rte_"),
        ("/v1/event-types/", "ety_"),
        ("/v1/events/", "evt_"),
        ("/v1/outbound-events/", "evt_"),
        ("/v1/deliveries/", "dlv_"),
        ("/v1/dead-letters/", "dlv_"),
        ("/v1/replays/", "rpl_"),
    ];
    let prefix = known.iter().find(|(before, _)| path.starts_with(before)).map_or("", |(_, prefix)| prefix);
    that_ends(path).replace("{id}", &format!("{prefix}0000000000000")).replace("{token}", "none")
}

fn ask(api: &Api, method: &str, path: &str) -> Answer {
    api.call(method, path, &[], b"{\"no_such_field\": 1}")
}

#[test]
fn every_call_is_for_its_scopes_and_names_the_one_it_needs() {
    let site = Site::new();
    let gateway = site.start();
    let admin = gateway.api();
    let of_scope = |scope: &str| match scope {
        "portal" => text(&admin.post("/v1/portal-sessions", &json!({})).data(201)["token"]),
        made => text(&admin.post("/v1/api-keys", &json!({ "name": made, "scope": made })).data(201)["key"]),
    };
    let scopes = ["admin", "account", "read", "ingest", "portal"];
    let keys = scopes.map(|scope| (scope, admin.with_key(&of_scope(scope))));
    for (method, path, _) in calls() {
        let place = place(&method, &path);
        if place == "open" {
            continue;
        }
        let (may, needed) = allowed(place);
        for (scope, api) in &keys {
            let answer = ask(api, &method, &nobodys(&path));
            if may.contains(scope) {
                assert!(![401, 403].contains(&answer.status), "{scope} {method} {path}: {answer}");
            } else {
                assert_eq!(answer.code(403), "forbidden", "{scope} {method} {path}");
                let sentence =
                    format!("This call needs a key of scope {needed}; this key has scope {scope}.");
                assert_eq!(answer.refusal(403), sentence, "{method} {path}");
            }
        }
    }
}

#[test]
fn keys_that_do_not_count_are_all_told_the_same() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let make = |body: &serde_json::Value| api.post("/v1/api-keys", body).data(201);
    let revoked = make(&json!({ "name": "revoked" }));
    api.delete(&format!("/v1/api-keys/{}", text(&revoked["id"]))).nothing();
    let expired = make(&json!({ "name": "expired", "scope": "read", "expires_in_seconds": 1 }));
    let expired = api.with_key(&text(&expired["key"]));
    wait_until("the key has expired", || (expired.get("/v1/sources").status == 401).then_some(()));
    let keys = [api.with_key(""), api.with_key("hk_garbage"), api.with_key(&text(&revoked["key"])), expired];
    // Each call from an address of its own: wrong keys from one address are told to wait.
    for (number, (method, path, _)) in (0..).zip(calls()) {
        if place(&method, &path) == "open" {
            continue;
        }
        for key in &keys {
            // It needs no key on this machine.
            if path == "/v1/platform-stats" && key.key.is_empty() {
                continue;
            }
            let bearer = format!("Bearer {}", key.key);
            let headers = [("authorization", bearer.as_str())];
            let headers = if key.key.is_empty() { &headers[..0] } else { &headers };
            let asked = request(&method, &nobodys(&path), headers, b"{\"no_such_field\": 1}");
            let answer = key.raw_from(number, &asked);
            assert_eq!(answer.code(401), "unauthorized", "{method} {path}");
            assert_eq!(answer.refusal(401), "Send a valid key as Authorization: Bearer hk_….");
        }
    }
}

/// What its owner gets there, but for when a key was last used: to look is to use it.
fn shown(owner: &Api, path: &str) -> Value {
    let mut found = owner.get(path).data(200);
    let items = match &mut found {
        Value::Array(items) => &mut items[..],
        one => std::slice::from_mut(one),
    };
    items.iter_mut().for_each(|item| drop(item.as_object_mut().map(|item| item.remove("last_used_at"))));
    found
}

/// One of everything that has an id, by the path to it.
fn one_of_each(owner: &Api, account: String, sink: &Sink) -> BTreeMap<&'static str, String> {
    // Before there is anything to replay.
    let replay = owner.post("/v1/replays", &json!({})).data(202);
    once(owner, &replay, "done");
    let (source, path) = owner.source();
    let destination = hopeless(owner, sink, "/theirs", 1);
    let event = dead(owner, &path, "order.paid", b"{}");
    let outbound = json!({ "event_type": "order.sent", "payload": "{}" });
    let outbound = owner.make("/v1/outbound-events", &outbound);
    let given_up = owner.event_once(&outbound, "dead_letter");
    let letter = text(&given_up["event"]["deliveries"][0]["id"]);
    let described = json!({ "event_type": "order.lost", "schema": {} });
    BTreeMap::from([
        ("/v1/event-types/", owner.make("/v1/event-types", &described)),
        ("/v1/accounts/", account),
        ("/v1/api-keys/", text(&owner.get("/v1/api-keys").data(200)[0]["id"])),
        ("/v1/sources/", source),
        ("/v1/destinations/", destination),
        ("/v1/routes/", text(&owner.get("/v1/routes").data(200)[0]["id"])),
        ("/v1/events/", event),
        ("/v1/outbound-events/", outbound),
        ("/v1/deliveries/", letter.clone()),
        ("/v1/dead-letters/", letter),
        ("/v1/replays/", text(&replay["id"])),
    ])
}

#[test]
fn ids_of_another_tenant_are_as_those_of_nobody_in_every_call() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let tenant = |name: &str| {
        let made = gateway.api().post("/v1/accounts", &json!({ "name": name })).data(201);
        (gateway.api().with_key(&text(&made["api_key"]["key"])), text(&made["account"]["id"]))
    };
    let ((ours, _), (theirs, account)) = (tenant("ours"), tenant("theirs"));
    let ids = one_of_each(&theirs, account, &sink);
    // Each by its id, which its owner must find, and all of its kind.
    let everything = || -> Vec<[Value; 2]> {
        let of = |(before, id): (&&str, &String)| {
            [shown(&theirs, &format!("{before}{id}")), shown(&theirs, before.trim_end_matches('/'))]
        };
        ids.iter().map(of).collect()
    };
    let before_calls = everything();
    for (method, path, _) in calls() {
        let Some((before, after)) = path.split_once("{id}") else { continue };
        if place(&method, &path) == "operate" {
            continue;
        }
        let id = ids.get(before).unwrap_or_else(|| panic!("make something for {before}"));
        let (answer, nothing) = (
            ours.call(&method, &format!("{before}{id}{after}"), &[], b"{}"),
            ours.call(&method, &nobodys(&path), &[], b"{}"),
        );
        assert_eq!(answer.refusal(404), nothing.refusal(404), "{method} {path}");
    }
    assert_eq!(everything(), before_calls, "nothing of theirs has changed");
}
