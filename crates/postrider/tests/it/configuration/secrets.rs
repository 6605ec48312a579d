//! Secrets are sent when an object is made or when that is asked for, and are never shown.

use super::EVERYTHING;
use super::command::{Desk, Ran, SECRETS};
use crate::rig::Sink;
use crate::rig::api::text;

fn check_hides_secrets(ran: &Ran) {
    for (variable, secret) in SECRETS {
        assert!(!ran.out.contains(secret) && !ran.err.contains(secret), "{variable} is shown: {ran:#?}");
    }
}

#[test]
fn no_output_holds_a_secret() {
    let desk = Desk::with_secrets();
    let file = EVERYTHING.replace("SINK", "https://example.com");
    let bad = file.replace("threshold: 9", "threshold: none");
    for args in [
        &["plan", "-f", "-"][..],
        &["plan", "-f", "-", "--json"],
        &["apply", "-f", "-", "--yes", "--json"],
        &["plan", "-f", "-", "--rotate-secrets"],
        &["apply", "-f", "-", "--yes", "--rotate-secrets"],
        &["export"],
        &["export", "--format", "toml"],
    ] {
        for file in [&file, &bad] {
            check_hides_secrets(&desk.run(args, file));
        }
    }
    let rotated = desk.run(&["plan", "-f", "-", "--rotate-secrets"], &file);
    let line = "    auth_config.token: (secret, set from env BILLING_TOKEN)\n";
    assert!(rotated.out(2).contains(line), "{rotated:?}");
}

#[test]
fn a_secret_is_sent_again_only_when_that_is_asked_for() {
    let (mut desk, sink) = (Desk::with_secrets(), Sink::start());
    let file = EVERYTHING.replace("SINK", sink.url("").trim_end_matches('/'));
    desk.apply(&file).out(0);
    let api = desk.gateway.api();
    let ingest = format!("/ingest/{}", text(&desk.object("/v1/sources", "plain")["path_token"]));
    let arrived_with = |count: usize| {
        api.send(&ingest, &[("x-event-type", "payment.made")], br#"{"amount":11}"#);
        sink.wait_for("/billing", count)[count - 1].headers.get("authorization").unwrap().to_owned()
    };
    desk.variables.retain(|(name, _)| name != "BILLING_TOKEN");
    desk.variables.push(("BILLING_TOKEN".into(), "another".into()));
    assert!(desk.apply(&file).out(0).starts_with("No changes."));
    assert_eq!(arrived_with(1), "Bearer token-93b1fe20");
    desk.run(&["apply", "-f", "-", "--yes", "--rotate-secrets"], &file).out(0);
    assert_eq!(arrived_with(2), "Bearer another");
}

#[test]
fn the_secret_of_a_source_stays_when_its_header_is_renamed() {
    let mut desk = Desk::with_secrets();
    let file = EVERYTHING.replace("SINK", "https://example.com");
    desk.apply(&file).out(0);
    desk.variables.clear();
    let renamed = file.replace("X-Shop-Signature", "X-Signature");
    let plan = desk.plan(&renamed);
    assert!(plan.out(2).contains("verification_config: ") && !plan.out.contains("(secret"), "{plan:?}");
    desk.apply(&renamed).out(0);
    assert!(desk.plan(&renamed).out(0).starts_with("No changes."));
}
