//! What a gateway has can be written down and made again elsewhere.

use super::EVERYTHING;
use super::command::{Desk, PRIVATE_KEY, SECRETS};

/// The variables that an export names, each with something that fits.
fn fill(desk: &mut Desk, export: &str) {
    for part in export.split("{env: ").skip(1) {
        let name = part.split('}').next().unwrap().to_owned();
        let value = match name.rsplit_once('_') {
            Some((_, "SECRET")) if name.ends_with("SIGNING_SECRET") => SECRETS[1].1,
            Some((_, "KEY")) => PRIVATE_KEY,
            _ => "else",
        };
        desk.variables.push((name, value.to_owned()));
    }
}

#[test]
fn an_export_is_the_gateway_and_makes_another_like_it() {
    let one = Desk::with_secrets();
    let file = EVERYTHING.replace("SINK", "https://example.com");
    one.apply(&file).out(0);
    let export = one.export();
    // Its variables are not set here, and need not be: nothing is to be sent.
    assert_eq!(one.plan(&export).out(0), "No changes.\n");

    let mut other = Desk::with_secrets();
    assert!(other.plan(&export).err().contains("BILLING_SIGNING_SECRET is not set"));
    fill(&mut other, &export);
    other.apply(&export).out(0);
    assert_eq!(other.plan(&export).out(0), "No changes.\n");
    assert!(other.plan(&file).out(0).starts_with("No changes."), "the first file means the same");
    assert_eq!(other.export(), export);
}

#[test]
fn an_export_in_toml_says_the_same() {
    let desk = Desk::with_secrets();
    desk.apply(&EVERYTHING.replace("SINK", "https://example.com")).out(0);
    let export = desk.run(&["export", "--format", "toml"], "").out(0).to_owned();
    let path = desk.site.path().join("export.toml");
    std::fs::write(&path, &export).unwrap();
    assert_eq!(desk.run(&["plan", "-f", path.to_str().unwrap()], "").out(0), "No changes.\n");
}

#[test]
fn only_what_is_no_default_is_exported() {
    let desk = Desk::with_secrets();
    desk.apply("destinations: [{name: billing, url: https://example.com, timeout_seconds: 20}]").out(0);
    let (_, body) =
        desk.export().split_once('\n').map(|(head, body)| (head.to_owned(), body.to_owned())).unwrap();
    let expected = "sources:\n  - name: default\ndestinations:\n  - name: billing\n    url: https://example.com\n    timeout_seconds: 20\n    signing_secret: {env: BILLING_SIGNING_SECRET}\n";
    assert_eq!(body, expected);
}

#[test]
fn two_of_one_name_are_told_apart_by_nobody() {
    let desk = Desk::with_secrets();
    let body = serde_json::json!({ "name": "twin", "url": "https://example.com" });
    let ids = [(); 2].map(|()| desk.gateway.api().make("/v1/destinations", &body));
    assert!(desk.run(&["export"], "").err().contains("destinations twin"));
    let plan = desk.plan("destinations: [{name: twin, url: https://example.com}]");
    assert!(ids.iter().all(|id| plan.err().contains(id)), "{plan:?}");
}
