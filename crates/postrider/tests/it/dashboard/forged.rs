//! Every form of the dashboard and of the portal: none is taken without the token of the session.

use super::browser::Browser;
use super::portal::Guest;
use crate::rig::Site;
use serde_json::json;

/// Where the routes of the pages are said.
const ROUTERS: [&str; 2] =
    [include_str!("../../../src/dashboard/mod.rs"), include_str!("../../../src/dashboard/portal/mod.rs")];

/// Forms of strangers: what they carry is the key or the link itself.
const OF_STRANGERS: [&str; 2] = ["/sign-in", "/portal"];

/// The paths that take a form, as the routers say them, with something in the place of each parameter.
fn forms() -> Vec<String> {
    let routes = ROUTERS.iter().flat_map(|source| source.split(".route(\"").skip(1));
    let taking = routes.filter_map(|route| {
        let (path, rest) = route.split_once('"')?;
        let handlers = rest.split(".route").next().unwrap_or_default();
        handlers.contains("post(").then_some(path)
    });
    let filled = |path: &str| path.replace("{id}", "x").replace("{action}", "pause").replace("{route}", "y");
    taking.filter(|path| !OF_STRANGERS.contains(path)).map(filled).collect()
}

#[test]
fn no_form_is_taken_without_the_token_of_its_session() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    let guest = Guest::by_link(&api, &json!({}));
    let forms = forms();
    assert!(forms.len() >= 30, "{forms:?}");
    for path in &forms {
        let sender = if path.starts_with("/portal") { &guest.0 } else { &browser };
        for token in [None, Some(""), Some("forged")] {
            let fields: Vec<(&str, &str)> = token.map(|token| ("form_token", token)).into_iter().collect();
            let answer = sender.submit(path, &fields, &[]);
            assert_eq!(answer.status, 403, "{path} with {token:?}: {answer}");
            let said = String::from_utf8_lossy(&answer.body).into_owned();
            assert!(said.contains("The form belongs to another session"), "{path}: {said}");
        }
    }
    browser.page("/");
    guest.page("/portal/destinations");
}
