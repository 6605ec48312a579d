//! What a source has refused lately.

use super::{check_fields, check_time};
use crate::rig::api::text;
use crate::rig::{Api, Sink, Site};
use serde_json::json;

#[test]
fn a_source_tells_what_it_refused_and_why() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let config = json!({ "header": "X-Shop-Secret", "secret": "the right one" });
    let body = json!({ "name": "shop", "auth_mode": "shared_secret", "verification_config": config });
    let made = api.post("/v1/sources", &body).data(201);
    let (path, rejects) = (
        format!("/ingest/{}", text(&made["path_token"])),
        format!("/v1/sources/{}/rejects", text(&made["id"])),
    );
    assert_eq!(api.get(&rejects).data(200), json!([]));
    let send = |headers: &[(&str, &str)]| api.call("POST", &path, headers, b"{}");
    let told = send(&[]).refusal(401);
    send(&[("x-shop-secret", "a wrong one")]).refusal(401);
    send(&[("x-shop-secret", "a wrong one")]).refusal(401);
    send(&[("x-shop-secret", "the right one"), ("x-event-type", "not..legal")]).refusal(422);
    send(&[("x-shop-secret", "the right one")]).data(202);
    let all = api.get(&rejects).data(200);
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 3, "what is alike is one, and what was taken is none: {all:?}");
    check_fields(&all[0], "at status code reason client count");
    check_time(&all[0]["at"]);
    let codes: Vec<_> =
        all.iter().map(|reject| (text(&reject["code"]), reject["count"].as_u64().unwrap())).collect();
    let [bad_type, wrong, missing] = &codes[..] else { unreachable!("there are three") };
    assert_eq!((bad_type.1, wrong.1, missing.1), (1, 2, 1), "{all:?}");
    assert_eq!(all[0]["status"], 422);
    assert!(text(&all[0]["client"]).starts_with("127."), "{all:?}");
    let reason = text(&all[2]["reason"]);
    assert!(
        reason.contains("header with the signature is missing") && reason != told,
        "more than the sender: {reason}"
    );
    assert!(!json!(all).to_string().contains("wrong one"), "nothing that was sent is kept: {all:?}");

    let other = api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    api.with_key(&text(&other["api_key"]["key"])).get(&rejects).refusal(404);
}

/// The source of this name.
fn named(api: &Api, name: &str) -> String {
    let sources = api.get("/v1/sources").data(200);
    let found = sources.as_array().unwrap().iter().find(|source| source["name"] == name);
    format!("/v1/sources/{}", text(&found.unwrap_or_else(|| panic!("no source {name}: {sources}"))["id"]))
}

#[test]
fn doors_without_a_token_tell_what_they_refused_and_close_with_their_source() {
    let sink = Sink::start();
    let listed = format!("[[destinations]]\nname = \"one\"\nurl = {:?}\n", sink.url("/one"));
    let site = Site::new().config(&listed).variable("POSTRIDER_WEBHOOKS_SECRET", "hush-hush-1234567");
    let gateway = site.start();
    let api = gateway.api();
    for (door, source, headers, status) in [
        ("/ingress", named(&api, "ingress"), [("x-event-type", "not..legal")], 422),
        ("/webhooks", named(&api, "webhooks"), [("x-signature", "sha256=00")], 401),
    ] {
        let refused = api.call("POST", door, &headers, b"{}").refusal(status);
        let told = api.get(&format!("{source}/rejects")).data(200);
        assert_eq!(
            (told.as_array().unwrap().len(), &told[0]["status"]),
            (1, &json!(status)),
            "{door}: {told}"
        );
        assert_eq!(
            text(&told[0]["reason"]) == refused,
            status == 422,
            "a bad signature is told in full: {told}"
        );

        api.patch(&source, &json!({ "status": "inactive" })).data(200);
        api.call("POST", door, &[], b"{}").refusal(404);
        api.patch(&source, &json!({ "status": "active" })).data(200);
        assert_eq!(api.call("POST", door, &[], b"{}").status, if door == "/ingress" { 202 } else { 401 });
    }
}
