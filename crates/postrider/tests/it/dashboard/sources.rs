//! Sources, routes and keys as people make, change and try them.

use super::browser::{Browser, next};
use crate::rig::api::text;
use crate::rig::{Answer, Site};
use ring::hmac;
use serde_json::json;

/// Would run if it were not shown as text.
const HOSTILE: &str = "<script>alert(1)</script><svg onload=alert(2)>\u{2028}\"'&";

fn body(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

#[test]
fn a_source_is_made_for_a_provider_changed_and_tells_what_it_refused() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    let bad = body(&browser.change("/sources", &[("name", HOSTILE), ("secret", "planted-secret")]));
    assert!(bad.contains("id=\"verification_config-problem\" role=\"alert\">"), "{bad}");
    assert!(!bad.contains("planted-secret"), "a secret does not come back: {bad}");
    assert!(!bad.contains("<svg onload") && bad.contains("&#60;script&#62;"), "{bad}");
    let fields = [("name", "Code"), ("provider", "github"), ("secret", "planted-secret")];
    let place = next(&browser.change("/sources", &fields));
    let page = browser.page(&place);
    for part in
        ["X-Hub-Signature-256", "Settings, Webhooks", "pull_request", "data-copy", "None since this node"]
    {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    let known = api.get(&format!("/v1{place}")).data(200);
    assert_eq!((&known["provider"], &known["auth_mode"]), (&json!("github"), &json!("shared_secret")));
    let ingest = format!("/ingest/{}", text(&known["path_token"]));
    api.call("POST", &ingest, &[], b"{}").refusal(401);
    let page = browser.page(&place);
    assert!(page.contains("header with the signature is missing") && page.contains("127."), "{page}");

    next(&browser.change(&place, &[("name", "Renamed"), ("provider", "github"), ("status", "inactive")]));
    let known = api.get(&format!("/v1{place}")).data(200);
    assert_eq!(
        (&known["name"], &known["status"], &known["auth_mode"]),
        (&json!("Renamed"), &json!("inactive"), &json!("shared_secret")),
        "a secret that is not given stays"
    );
    let mode = || text(&api.get(&format!("/v1{place}")).data(200)["auth_mode"]);
    let asked = body(&browser.change(&format!("{place}/unsigned"), &[]));
    assert!(asked.contains("Stop verifying signatures of Renamed?") && asked.contains("can send events"));
    assert_eq!(mode(), "shared_secret", "it only asked");
    assert_eq!(next(&browser.change(&format!("{place}/unsigned"), &[("confirmed", "yes")])), place);
    assert_eq!(mode(), "none");
    assert!(!browser.page(&place).contains("Stop verifying signatures"), "there is nothing left to leave");
    let other = api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let stranger = Browser::signed_in(&api.with_key(&text(&other["api_key"]["key"])));
    assert_eq!(stranger.send("GET", &place, &[], "").status, 404);
    assert_eq!(stranger.change(&format!("{place}/delete"), &[]).status, 404);
    assert_eq!(stranger.change(&format!("{place}/delete"), &[("confirmed", "yes")]).status, 404);
    let asked = body(&browser.change(&format!("{place}/delete"), &[]));
    assert!(asked.contains("Delete Renamed?") && asked.contains("stops accepting events"), "{asked}");
    browser.page(&place);
    assert_eq!(next(&browser.change(&format!("{place}/delete"), &[("confirmed", "yes")])), "/sources");
    assert_eq!(browser.send("GET", &place, &[], "").status, 404);
}

#[test]
fn a_new_secret_leaves_how_senders_sign() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    let config = json!({ "header": "X-Sig", "scheme": "hmac_sha256", "prefix": "v1=", "secret": "old" });
    let source = api.make("/v1/sources", &json!({ "name": "shop", "verification_config": config }));
    let place = format!("/sources/{source}");
    let shown = || api.get(&format!("/v1{place}")).data(200)["verification_config"].clone();
    let kept = json!({ "header": "X-Sig", "scheme": "hmac_sha256", "prefix": "v1=", "secret": "[redacted]" });
    let save = |fields: &[(&str, &str)]| next(&browser.save(&browser.page(&place), &place, fields));
    save(&[("name", "shop"), ("secret", "new")]);
    assert_eq!(shown(), kept);
    let (key, ingest) =
        (hmac::Key::new(hmac::HMAC_SHA256, b"new"), &api.get(&format!("/v1{place}")).data(200));
    let signature: String =
        hmac::sign(&key, b"{}").as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let ingest = format!("/ingest/{}", text(&ingest["path_token"]));
    api.call("POST", &ingest, &[("X-Sig", &format!("v1={signature}"))], b"{}").data(202);

    save(&[("name", "shop"), ("header", "X-Other")]);
    let mut moved = kept;
    moved["header"] = json!("X-Other");
    assert_eq!(shown(), moved, "the secret stays");

    let rotated = json!({ "tolerance_seconds": 30, "secrets": ["old", "new"] });
    let change = json!({ "provider": "stripe", "verification_config": rotated });
    api.patch(&format!("/v1{place}"), &change).data(200);
    assert!(browser.page(&place).contains("keep the current 2"));
    save(&[("name", "shop"), ("provider", "stripe"), ("secret", "newer")]);
    assert_eq!(shown(), json!({ "tolerance_seconds": 30, "secret": "[redacted]" }));
    // Of another sender nothing of this holds.
    save(&[("name", "shop"), ("provider", "github"), ("secret", "hush")]);
    assert_eq!(shown(), json!({ "secret": "[redacted]" }));
}

#[test]
fn a_route_is_made_tried_changed_and_deleted() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    let (source, _) = api.source();
    let url = "http://127.0.0.1:9/in";
    let destination = api.make("/v1/destinations", &json!({ "name": "Orders", "url": url }));
    let to = ("destination_id", destination.as_str());
    let bad = body(&browser.change("/routes", &[to, ("filter", "payload.amount >"), ("priority", "2")]));
    assert!(bad.contains("id=\"filter-problem\" role=\"alert\">filter "), "{bad}");
    assert!(bad.contains("value=\"payload.amount &#62;\"") && bad.contains("value=\"2\" selected"), "{bad}");
    let filter = ("filter", "payload.amount > 100");
    let fields = [to, filter, ("source_id", ""), ("event_type_pattern", "order.*"), ("priority", "2")];
    assert_eq!(next(&browser.change("/routes", &fields)), "/routes");
    let route = text(&api.get("/v1/routes").data(200)[0]["id"]);
    assert!(browser.page("/routes").contains("order.*"));

    let event = |payload: &str| {
        let fields = [
            ("event_type", "order.paid"),
            ("payload", payload),
            ("headers", "X-Shop: one"),
            ("source_id", &source),
        ];
        body(&browser.change("/routes/test", &fields))
    };
    let taken = event("{\"amount\": 200}");
    for part in ["1 of 1 routes match", "matches", url, "&#34;amount&#34;: 200", &route] {
        assert!(taken.contains(part), "{part} is not in {taken}");
    }
    let left = event("{\"amount\": 1}");
    assert!(left.contains("0 of 1 routes match") && left.contains("filter is false"), "{left}");
    let hostile = event(HOSTILE);
    assert!(!hostile.contains("<svg onload") && hostile.contains("filter failed"), "{hostile}");
    let bad = body(&browser.change("/routes/test", &[("headers", "no colon")]));
    assert!(bad.contains("id=\"headers-problem\""), "{bad}");
    assert_eq!(api.get("/v1/events").data(200)["items"], json!([]), "nothing was taken in");

    let at = format!("/routes/{route}");
    assert!(browser.page(&at).contains("value=\"payload.amount &#62; 100\""));
    let changed = [
        to,
        ("source_id", source.as_str()),
        ("event_type_pattern", ""),
        ("filter", ""),
        ("priority", "4"),
        ("active", "no"),
    ];
    assert_eq!(next(&browser.change(&at, &changed)), "/routes");
    let known = api.get(&format!("/v1{at}")).data(200);
    assert_eq!((&known["event_type_pattern"], &known["active"]), (&json!("**"), &json!(false)));
    assert_eq!(
        (&known["source_id"], known.get("filter"), &known["priority"]),
        (&json!(source), None, &json!(4))
    );
    let other = api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let stranger = Browser::signed_in(&api.with_key(&text(&other["api_key"]["key"])));
    assert_eq!(stranger.send("GET", &at, &[], "").status, 404);
    assert!(!body(&stranger.change("/routes/test", &[("event_type", "order.paid")])).contains(&route));
    let asked = body(&browser.change(&format!("{at}/delete"), &[]));
    assert!(asked.contains("Delete the route to Orders?"), "{asked}");
    assert_eq!(api.get("/v1/routes").data(200).as_array().unwrap().len(), 1, "it only asked");
    assert_eq!(next(&browser.change(&format!("{at}/delete"), &[("confirmed", "yes")])), "/routes");
    assert_eq!(api.get("/v1/routes").data(200), json!([]));
}

/// What a browser sends for a choice that nobody touches: the option that is marked, or else the first.
fn chosen(page: &str, field: &str) -> String {
    let (_, rest) = page.split_once(&format!("<select name=\"{field}\"")).expect("a choice");
    let options: Vec<&str> =
        rest.split("</select>").next().unwrap().split("<option value=\"").skip(1).collect();
    let marked = options.iter().find(|option| option.split('>').next().unwrap().contains(" selected"));
    marked.unwrap_or(&options[0]).split('"').next().unwrap().to_owned()
}

#[test]
fn saving_a_route_leaves_its_ends_however_many_others_there_are() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let made = |n: usize| {
        let url = "http://127.0.0.1:9/in";
        let source = api.make("/v1/sources", &json!({ "name": format!("source {n}") }));
        (source, api.make("/v1/destinations", &json!({ "name": format!("receiver {n}"), "url": url })))
    };
    let ends: Vec<(String, String)> = (0..102).map(made).collect();
    let browser = Browser::signed_in(&api);
    // Whichever end of the list a page begins at, one of the two is not on it.
    for (source, destination) in [&ends[0], &ends[101]] {
        let route = api.make("/v1/routes", &json!({ "source_id": source, "destination_id": destination }));
        let at = format!("/routes/{route}");
        let page = browser.page(&at);
        let (from, to) = (chosen(&page, "source_id"), chosen(&page, "destination_id"));
        let number = if source == &ends[0].0 { 0 } else { 101 };
        assert!(page.contains(&format!("Route to receiver {number} ")), "{page}");
        next(&browser.change(&at, &[("source_id", &from), ("destination_id", &to), ("priority", "3")]));
        let known = api.get(&format!("/v1{at}")).data(200);
        assert_eq!((&known["source_id"], &known["destination_id"]), (&json!(source), &json!(destination)));
        let bad = body(&browser.change(
            &at,
            &[("source_id", &from), ("destination_id", &to), ("filter", "payload >"), ("priority", "3")],
        ));
        assert_eq!((&chosen(&bad, "source_id"), &chosen(&bad, "destination_id")), (source, destination));
    }
}

#[test]
fn a_key_is_changed_with_its_mistakes_beside_the_field() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    let bad = body(&browser.change("/keys", &[("name", "ci"), ("scope", "read"), ("expires_at", "soon")]));
    assert!(bad.contains("id=\"expires_at-problem\"") && bad.contains("value=\"soon\""), "{bad}");
    let key = api.make("/v1/api-keys", &json!({ "name": "ci" }));
    let page = format!("/keys/{key}");
    assert!(browser.page(&page).contains("value=\"ci\""));
    let bad = body(&browser.change(&page, &[("name", "")]));
    assert!(bad.contains("role=\"alert\""), "{bad}");
    next(&browser.change(&page, &[("name", "renamed"), ("expires_at", "2096-01-31T12:00:00Z")]));
    let known = api.get(&format!("/v1/api-keys/{key}")).data(200);
    assert_eq!((&known["name"], &text(&known["expires_at"])[..10]), (&json!("renamed"), "2096-01-31"));
    next(&browser.change(&page, &[("name", "renamed"), ("expires_at", "")]));
    assert!(api.get(&format!("/v1/api-keys/{key}")).data(200).get("expires_at").is_none());
}
