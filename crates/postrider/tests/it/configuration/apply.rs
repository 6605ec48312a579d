//! A file is applied, found unchanged, changed in one field, and events follow it.

use super::EVERYTHING;
use super::command::Desk;
use crate::rig::Sink;
use crate::rig::api::text;

fn everything(sink: &Sink) -> String {
    EVERYTHING.replace("SINK", sink.url("").trim_end_matches('/'))
}

#[test]
fn a_second_apply_changes_nothing() {
    let (desk, sink) = (Desk::with_secrets(), Sink::start());
    let file = everything(&sink);
    assert!(desk.plan(&file).out(2).contains("11 to create, 0 to change, 0 to delete."));
    let applied = desk.apply(&file);
    assert!(applied.out(0).contains("created route plain → billing (payment.*)"), "{applied:?}");
    for _ in 0..2 {
        let plan = desk.plan(&file);
        assert_eq!(plan.out(0), "No changes.\nNot in the file, left unchanged:\n  source default\n");
        assert!(desk.apply(&file).out(0).starts_with("No changes.\n"));
    }
    assert_eq!(desk.object("/v1/sources", "asleep")["status"], "inactive");
}

#[test]
fn made_keys_work_and_are_shown_once() {
    let (desk, sink) = (Desk::with_secrets(), Sink::start());
    let applied = desk.apply(&everything(&sink));
    let line =
        applied.out(0).lines().find(|line| line.starts_with("The key of the API key ci, shown only once: "));
    let key = line.and_then(|line| line.rsplit(' ').next()).expect("the key is shown");
    let api = desk.gateway.api().with_key(key);
    assert_eq!(api.get("/v1/sources").status, 200);
    assert_eq!(api.post("/v1/sources", &serde_json::json!({ "name": "x" })).status, 403);
    // A secret that the file does not give is made, and would be lost if it were not shown.
    assert!(applied.out.contains("The signing secret of the destination archive, shown only once: whsec_"));
    assert!(!applied.out.contains("The signing secret of the destination billing"));
}

#[test]
fn one_changed_field_is_the_whole_plan_and_events_follow_it() {
    let (desk, sink) = (Desk::with_secrets(), Sink::start());
    let file = everything(&sink);
    desk.apply(&file).out(0);
    let api = desk.gateway.api();
    let ingest = format!("/ingest/{}", text(&desk.object("/v1/sources", "plain")["path_token"]));
    let send = || api.send(&ingest, &[("x-event-type", "payment.made")], br#"{"amount":11}"#);
    send();
    assert_eq!(sink.wait_for("/billing", 1)[0].headers.get("x-kind"), Some("payment.made"));

    let changed = file.replace("/billing", "/accounting");
    let plan = desk.plan(&changed);
    let url = |path| sink.url(path);
    let expected = format!(
        "~ destination billing\n    url: \"{}\" → \"{}\"\n0 to create, 1 to change, 0 to delete.\n",
        url("/billing"),
        url("/accounting")
    );
    assert!(plan.out(2).starts_with(&expected), "{plan:?}");
    desk.apply(&changed).out(0);
    send();
    let arrival = &sink.wait_for("/accounting", 1)[0];
    // The token that was given when it was made is kept by a change of something else.
    assert_eq!(arrival.headers.get("authorization"), Some("Bearer token-93b1fe20"));
    assert_eq!(sink.arrivals_at("/billing").len(), 1);
}

#[test]
fn a_field_that_leaves_the_file_goes_back_to_its_default() {
    let (desk, sink) = (Desk::with_secrets(), Sink::start());
    let file = everything(&sink);
    desk.apply(&file).out(0);
    let mut shorter: Vec<&str> = file.lines().collect();
    let gone =
        ["max_concurrency", "auth_config", "circuit", "ordering", "filter", "rate_limit", "event_type_from"];
    shorter.retain(|line| !gone.iter().any(|field| line.trim_start().starts_with(field)));
    let shorter = shorter.join("\n");
    desk.apply(&shorter).out(0);
    assert!(desk.plan(&shorter).out(0).starts_with("No changes."));
    let billing = desk.object("/v1/destinations", "billing");
    assert_eq!(
        (&billing["max_concurrency"], &billing["circuit"]["failure_percent"]),
        (&5.into(), &100.into())
    );
    assert!(billing["auth_config"].is_null());
    assert_eq!(desk.object("/v1/destinations", "archive")["ordering"], "none");
}

#[test]
fn toml_says_the_same() {
    let desk = Desk::with_secrets();
    let path = desk.site.path().join("gateway.toml");
    let file = "[[destinations]]\nname = \"billing\"\nurl = \"https://example.com\"\nsigning_secret = {env = \"BILLING_SECRET\"}\n\n[[routes]]\ndestination = \"billing\"\n";
    std::fs::write(&path, file).unwrap();
    let path = path.to_str().unwrap();
    desk.run(&["apply", "-f", path, "--yes"], "").out(0);
    let yaml =
        "destinations: [{name: billing, url: https://example.com}]\nroutes: [{destination: billing}]\n";
    assert!(desk.plan(yaml).out(0).starts_with("No changes."));
}

#[test]
fn a_plan_for_programs_has_every_field() {
    let desk = Desk::with_secrets();
    desk.apply("destinations: [{name: billing, url: https://example.com}]").out(0);
    let file = "destinations: [{name: billing, url: https://example.com, timeout_seconds: 20}]";
    let plan = desk.run(&["plan", "-f", "-", "--json"], file).json(2);
    let expected = serde_json::json!([{
        "action": "change", "kind": "destination", "name": "billing",
        "fields": [{ "field": "timeout_seconds", "before": 10, "after": 20 }],
    }]);
    assert_eq!(plan["changes"], expected);
    assert_eq!(plan["unmanaged"], serde_json::json!([{ "kind": "source", "name": "default" }]));
}

#[test]
fn nothing_is_done_unasked() {
    let desk = Desk::with_secrets();
    let file = "destinations: [{name: billing, url: https://example.com}]";
    let asked = desk.run(&["apply", "-f", "-"], file);
    assert!(asked.err().contains("--yes"), "{asked:?}");
    assert_eq!(desk.gateway.api().get("/v1/destinations").data(200), serde_json::json!([]));
}

#[test]
fn a_part_that_a_file_no_longer_has_goes_back_to_its_default() {
    let desk = Desk::with_secrets();
    let file =
        |parts: &str| format!("destinations:\n  - name: billing\n    url: https://example.com/hook\n{parts}");
    let all = "    circuit: {threshold: 9, cooldown_seconds: 60}\n    rate_limit: {per_second: 50, burst: 9}\n    retry_policy: {delays_seconds: [1, 2], max_attempts: 2, max_age_seconds: 60}\n    custom_headers: {X-One: {env: BILLING_STAGE}, X-Two: {env: BILLING_STAGE}}\n";
    let fewer = "    circuit: {threshold: 9}\n    rate_limit: {per_second: 50}\n    retry_policy: {delays_seconds: [1, 2]}\n    custom_headers: {X-Two: {env: BILLING_STAGE}}\n";
    let other = "    auth_config: {type: basic, username: us, password: {env: BANK_PASSWORD}}\n    retry_policy: {backoff: exponential, cap_seconds: 60}\n";
    let bearer =
        "    auth_config: {type: bearer, token: {env: BILLING_TOKEN}}\n    retry_policy: {preset: waford}\n";
    for parts in [all, fewer, all, other, bearer] {
        desk.apply(&file(parts)).out(0);
        let plan = desk.plan(&file(parts));
        assert!(plan.out(0).starts_with("No changes.\n"), "{parts}: {plan:?}");
    }
    desk.apply(&file(fewer)).out(0);
    let billing = desk.object("/v1/destinations", "billing");
    assert_eq!(billing["circuit"]["cooldown_seconds"], 30);
    assert_eq!(
        (&billing["rate_limit"]["burst"], &billing["retry_policy"]["max_attempts"]),
        (&1.into(), &3.into())
    );
    assert_eq!(billing["custom_headers"], serde_json::json!({ "x-two": "[redacted]" }));
}
