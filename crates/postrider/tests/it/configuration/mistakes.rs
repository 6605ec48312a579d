//! Every mistake is found in one go, with its place and a sentence.

use super::command::Desk;

const BAD: &str = "\
sources:
  - name: shop
    speed: 5
    rate_limit: {per_second: 0}
  - name: shop
destinations:
  - name: billing
    url: ftp://example.com
    max_concurrency: 5000
    signing_secret: whsec_literal
    auth_config: {type: bearer, token: {env: NOT_SET_ANYWHERE}}
    retry_policy: {jitter: some}
  - url: https://example.com
  - name: twice
    url: https://example.com
    url: https://example.org
routes:
  - source: market
    destination: billing
    filter: payload.amount >
  - event_type_pattern: a..b
event_types:
  - event_type: order.created
keys: []
";

#[test]
fn all_mistakes_come_at_once() {
    let desk = Desk::with_secrets();
    let plan = desk.plan(BAD);
    let said: Vec<&str> = plan.err().lines().collect();
    let expected = [
        "stdin:3:5: speed is not a field of a source; allowed are name, ",
        "stdin:4:18: rate_limit.per_second must be ",
        "stdin:5:5: The source shop is already declared at 2:5.",
        "stdin:8:5: url must ",
        "stdin:9:5: max_concurrency must be ",
        "stdin:10:21: signing_secret is a secret and must not be written here; name a variable that holds it: {env: SIGNING_SECRET}.",
        "stdin:11:40: The variable NOT_SET_ANYWHERE is not set.",
        "stdin:12:20: retry_policy.jitter must be ",
        "stdin:13:5: name is missing.",
        "stdin:16:5: url is given twice.",
        "stdin:18:5: There is no source named market in this file.",
        "stdin:20:5: filter is not a legal expression at ",
        "stdin:21:5: destination is missing.",
        "stdin:21:5: event_type_pattern ",
        "stdin:23:5: schema is missing.",
        "stdin:24:1: keys is not a section; allowed are sources, destinations, routes, event_types, api_keys.",
    ];
    assert!(said[0].ends_with("mistakes in stdin"), "{said:#?}");
    for (line, expected) in said[1..].iter().zip(expected) {
        assert!(line.starts_with(expected), "{expected:?} is not {line:?} in {said:#?}");
    }
    assert_eq!(said.len() - 1, expected.len(), "{said:#?}");
    assert!(!plan.err.contains("whsec_literal"));
    assert_eq!(plan.out, "");
    assert_eq!(desk.gateway.api().get("/v1/destinations").data(200), serde_json::json!([]));
}

#[test]
fn what_is_no_yaml_and_who_is_no_gateway_is_said() {
    let mut desk = Desk::with_secrets();
    assert!(desk.plan("sources: [").err().contains("stdin:2:1: This is not YAML: "));
    assert!(desk.run(&["plan", "-f", "nowhere.yaml"], "").err().contains("cannot read nowhere.yaml"));
    let wrong = desk.run(&["plan", "-f", "-", "--key", "hk_wrong"], "");
    assert!(wrong.err().contains("Send a valid key"), "{wrong:?}");
    desk.url = "http://127.0.0.1:1".into();
    let unreachable = desk.plan("");
    assert_eq!(unreachable.code, 3);
    assert!(unreachable.err.contains("cannot be reached"), "{unreachable:?}");
}

#[test]
fn what_the_gateway_refuses_stops_the_rest_and_is_told() {
    let desk = Desk::with_secrets();
    let file = "\
destinations:
  - {name: fine, url: https://example.com}
  - {name: closed, url: http://10.1.2.3}
routes:
  - destination: closed
";
    let applied = desk.apply(file);
    assert!(applied.err().contains("stopped at destination closed after 1 of 3 changes"), "{applied:?}");
    assert!(applied.err.contains("not done: create route any source → closed (**)"), "{applied:?}");
    assert!(applied.err.contains("--egress-allow"), "{applied:?}");
    assert!(applied.out.contains("created destination fine"), "{applied:?}");
}

#[test]
fn the_scope_of_a_key_stays() {
    let desk = Desk::with_secrets();
    desk.apply("api_keys: [{name: ci, scope: read}]").out(0);
    let plan = desk.plan("api_keys: [{name: ci, scope: account}]");
    assert!(plan.err().contains("cannot be changed"), "{plan:?}");
}
