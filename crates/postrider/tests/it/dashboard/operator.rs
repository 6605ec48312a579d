//! Pages about the whole gateway: accounts, the cluster, settings.

use super::browser::{Browser, next};
use crate::rig::api::text;
use crate::rig::{Answer, Reply, Sink, Site, wait_until};
use serde_json::json;

/// Would run if it were not shown as text.
const HOSTILE: &str = "<script>alert(1)</script><svg onload=alert(2)>\u{2028}\"'&";

fn body(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

#[test]
fn an_account_is_made_changed_linked_to_and_deleted() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    let bad = body(&browser.change("/accounts", &[("name", "shop"), ("email", "nobody")]));
    assert!(
        bad.contains("id=\"email-problem\" role=\"alert\">email "),
        "the sentence is beside its field: {bad}"
    );
    assert!(bad.contains("value=\"shop\""), "{bad}");
    let made = browser.shown_once(&browser.change("/accounts", &[("name", HOSTILE), ("email", "")]));
    let (_, rest) = made.split_once("shown only once: <code>").expect("its key");
    let key = rest.split('<').next().unwrap().to_owned();
    assert!(!made.contains("<svg onload") && made.contains("&#60;script&#62;"), "{made}");
    assert!(!browser.page("/accounts").contains(&key), "it is shown once");
    let tenant = api.with_key(&key);
    let account = text(&tenant.get("/v1/accounts").data(200)[0]["id"]);
    let page = format!("/accounts/{account}");

    let bad = body(&browser.change(&page, &[("name", "shop"), ("weight", "many")]));
    assert!(bad.contains("id=\"weight-problem\"") && bad.contains("value=\"many\""), "{bad}");
    let wanted = [
        ("name", "shop"),
        ("weight", "7"),
        ("max_pending", "1000"),
        ("max_in_flight", ""),
        ("max_pending_age_seconds", "60"),
    ];
    next(&browser.change(&page, &wanted));
    let known = api.get(&format!("/v1/accounts/{account}")).data(200);
    assert_eq!(
        (&known["name"], &known["weight"], &known["max_pending"], &known["max_pending_age_seconds"]),
        (&json!("shop"), &json!(7), &json!(1000), &json!(60))
    );
    next(&browser.change(&page, &[("name", "shop"), ("max_pending", "")]));
    assert!(api.get(&format!("/v1/accounts/{account}")).data(200).get("max_pending").is_none());

    let bad = body(&browser.change(&format!("{page}/brand"), &[("primary_color", "red;x")]));
    assert!(bad.contains("id=\"primary_color-problem\""), "{bad}");
    next(
        &browser.change(&format!("{page}/brand"), &[("company_name", "Shop"), ("primary_color", "#0a7f3c")]),
    );
    assert_eq!(tenant.get("/v1/brand-settings").data(200)["company_name"], "Shop");
    assert!(
        api.get("/v1/brand-settings").data(200).get("company_name").is_none(),
        "it is that account's own"
    );
    let bad = body(&browser.change(&format!("{page}/portal"), &[("expires_in_seconds", "0")]));
    assert!(bad.contains("id=\"expires_in_seconds-problem\""), "{bad}");
    let linked = browser.shown_once(
        &browser.change(&format!("{page}/portal"), &[("expires_in_seconds", ""), ("return_url", "")]),
    );
    let (_, rest) = linked.split_once("/portal#token=").expect("a link");
    let token = rest.split(['<', '&']).next().unwrap();
    assert_eq!(api.with_key(token).get("/v1/brand-settings").data(200)["company_name"], "Shop");
    assert!(!browser.page(&page).contains(token), "it is shown once");

    let source = tenant.source().0;
    let asked = body(&browser.change(&format!("{page}/delete"), &[]));
    assert!(asked.contains("Delete its 0 destinations and 1 sources first"), "{asked}");
    tenant.delete(&format!("/v1/sources/{source}")).nothing();
    let asked = body(&browser.change(&format!("{page}/delete"), &[]));
    assert!(asked.contains("stop working at once"), "{asked}");
    tenant.get("/v1/accounts").data(200);
    assert_eq!(next(&browser.change(&format!("{page}/delete"), &[("confirmed", "yes")])), "/accounts");
    tenant.get("/v1/accounts").refusal(401);
}

#[test]
fn a_tenant_sees_its_own_account_and_no_page_of_the_gateway() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let made = |name: &str| api.post("/v1/accounts", &json!({ "name": name })).data(201);
    let (ours, theirs) = (made("ours"), made("theirs"));
    let browser = Browser::signed_in(&api.with_key(&text(&ours["api_key"]["key"])));
    let list = browser.page("/accounts");
    assert!(
        list.contains("ours") && !list.contains("theirs") && !list.contains("Create an account"),
        "{list}"
    );
    assert!(!list.contains("href=\"/cluster\"") && !list.contains("href=\"/settings\""), "{list}");
    let own = format!("/accounts/{}", text(&ours["account"]["id"]));
    assert!(!browser.page(&own).contains("name=\"weight\""), "the operator sets it");
    next(&browser.change(&own, &[("name", "renamed"), ("email", "")]));
    next(&browser.change(&format!("{own}/brand"), &[("company_name", "Renamed")]));
    assert_eq!(browser.change(&own, &[("weight", "1000")]).status, 200, "refused on the page");
    let known = api.get(&format!("/v1{own}")).data(200);
    assert_eq!((&known["name"], &known["weight"]), (&json!("renamed"), &json!(1)));
    let other = format!("/accounts/{}", text(&theirs["account"]["id"]));
    for page in ["/cluster", "/settings"] {
        assert_eq!(browser.send("GET", page, &[], "").status, 403, "{page}");
    }
    assert_eq!(browser.send("GET", &other, &[], "").status, 404);
    browser.change(&format!("{other}/delete"), &[("confirmed", "yes")]);
    browser.change(&format!("{other}/brand"), &[("company_name", "Stolen")]);
    let theirs = api.with_key(&text(&theirs["api_key"]["key"]));
    assert_eq!(theirs.get("/v1/brand-settings").data(200), json!({}), "nothing of theirs has changed");
    assert_eq!(browser.submit("/accounts", &[("name", "x")], &[]).status, 403, "no form without its token");
}

/// Chooses an account, or their own.
fn look(browser: &Browser, account: &str, page: &str) -> String {
    next(&browser.change("/look", &[("account", account), ("next", page)]))
}

#[test]
fn the_operator_opens_what_belongs_to_another_account() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let made = api.post("/v1/accounts", &json!({ "name": HOSTILE })).data(201);
    let (account, tenant) = (text(&made["account"]["id"]), api.with_key(&text(&made["api_key"]["key"])));
    sink.always("/dead", Reply::status(500));
    let dies = json!({ "name": "theirs dead", "retry_policy": { "max_attempts": 1 } });
    tenant.destination(&sink.url("/dead"), &dies);
    let destination = tenant.destination(&sink.url("/in"), &json!({ "name": "theirs" }));
    tenant.post(&format!("/v1/destinations/{destination}/pause"), &json!({})).data(200);
    let (_, path) = tenant.source();
    let event = tenant.send(&path, &[], b"{\"of\":\"them\"}");
    let letters = || tenant.get("/v1/dead-letters").data(200)["items"].as_array().unwrap().len();
    wait_until("one was given up on", || (letters() == 1).then_some(()));

    let browser = Browser::signed_in(&api);
    let page = format!("/destinations/{destination}");
    let home = browser.page("/");
    let worst = home.split("Largest backlogs").nth(1).unwrap().split("</table>").next().unwrap();
    assert!(!worst.contains(&format!("href=\"{page}\"")), "a link that leads nowhere: {worst}");
    assert!(worst.contains(&format!("name=\"next\" value=\"{page}\"")), "{worst}");
    assert!(worst.contains(&format!("name=\"account\" value=\"{account}\"")), "{worst}");
    assert_eq!(browser.send("GET", &page, &[], "").status, 404, "it is of another account");
    let token = browser.token();
    assert_eq!(look(&browser, &account, &page), page);
    let shown = browser.page(&page);
    assert!(shown.contains("Viewing account") && shown.contains("&#60;script&#62;"), "{shown}");
    assert!(!shown.contains("<svg onload"), "{shown}");
    for list in ["/events", "/dead-letters", "/deliveries"] {
        assert!(browser.page(list).contains(&event), "{list}");
    }
    assert!(browser.page(&format!("/events/{event}")).contains("&#34;of&#34;"));
    let home = browser.page("/");
    let worst = home.split("Largest backlogs").nth(1).unwrap().split("</table>").next().unwrap();
    assert!(worst.contains(&format!("href=\"{page}\"")), "{worst}");

    let of_before = [("form_token", token.as_str()), ("name", "made")];
    assert_eq!(browser.submit("/sources", &of_before, &[]).status, 403, "a form of before is not sent there");
    next(&browser.change(&format!("{page}/resume"), &[]));
    sink.wait_for("/in", 1);
    assert_eq!(look(&browser, "", "https://evil.test/"), "/");
    assert_eq!(browser.send("GET", &page, &[], "").status, 404, "back to their own");
    assert_eq!(browser.change("/look", &[("account", "acc_0000000000000")]).status, 404);

    let empty = text(&api.post("/v1/accounts", &json!({ "name": "empty" })).data(201)["account"]["id"]);
    look(&browser, &empty, "/");
    let deleted = browser.change(&format!("/accounts/{empty}/delete"), &[("confirmed", "yes")]);
    assert_eq!(next(&deleted), "/accounts");
    assert!(!browser.page("/accounts").contains("Viewing account"));

    let own = Browser::signed_in(&tenant);
    let first = text(&api.get("/v1/accounts").data(200)[0]["id"]);
    let refused = own.change("/look", &[("account", &first)]);
    assert_eq!((refused.status, refused.headers.get("set-cookie")), (403, None), "{refused}");
}

#[test]
fn the_operator_sees_the_node_and_how_it_is_set_up() {
    let site = Site::new().with(&["--retention-days", "13", "--slots", "77"]);
    let gateway = site.start();
    let browser = Browser::signed_in(&gateway.api());
    let cluster = browser.page("/cluster");
    for part in ["embedded store", "this node", "All 64 shards", env!("CARGO_PKG_VERSION")] {
        assert!(cluster.contains(part), "{part} is not in {cluster}");
    }
    let settings = browser.page("/settings");
    for part in ["13 days", ">77<", "embedded", "127.0.0.0/8", "Free disk space"] {
        assert!(settings.contains(part), "{part} is not in {settings}");
    }
    let told = gateway.api().get("/v1/settings").data(200);
    assert_eq!(
        (&told["retention_days"], &told["slots"], &told["store"]),
        (&json!(13), &json!(77), &json!("sqlite"))
    );
    assert!(!told.to_string().contains(&gateway.api().key), "no secret is a setting to look at");
}

#[test]
fn a_link_that_no_page_could_show_is_not_made() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    let page = format!("/accounts/{}", text(&api.get("/v1/accounts").data(200)[0]["id"]));
    let long = |length: usize| format!("https://app.example.com/{}", "é".repeat(length));
    let link = |length| browser.change(&format!("{page}/portal"), &[("return_url", &long(length))]);
    let keys = || api.get("/v1/api-keys").data(200).as_array().unwrap().len();
    browser.shown_once(&link(140));
    let before = keys();
    let bad = body(&link(160));
    assert!(bad.contains("id=\"return_url-problem\"") && bad.contains("too long"), "{bad}");
    assert_eq!(keys(), before, "nobody would have seen it");
}

#[test]
fn no_tenant_finds_the_page_of_another_account_or_changes_anything_by_it() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let made = |name: &str| {
        let made = api.post("/v1/accounts", &json!({ "name": name })).data(201);
        (text(&made["account"]["id"]), api.with_key(&text(&made["api_key"]["key"])))
    };
    let ((own, tenant), (other, _)) = (made("own"), made("other"));
    let browser = Browser::signed_in(&tenant);
    let keys = || tenant.get("/v1/api-keys").data(200).as_array().unwrap().len();
    let before = keys();
    for id in [other.as_str(), "acc_0000000000000"] {
        for action in ["", "/brand", "/portal", "/delete"] {
            for confirmed in ["", "yes"] {
                let fields = [("name", "mine"), ("company_name", "mine"), ("confirmed", confirmed)];
                let answer = browser.change(&format!("/accounts/{id}{action}"), &fields);
                assert_eq!(answer.status, 404, "{action}: {answer}");
            }
        }
    }
    assert_eq!(keys(), before, "a link was made");
    assert_eq!(tenant.get("/v1/brand-settings").data(200), json!({}));
    next(&browser.change(&format!("/accounts/{own}/brand"), &[("company_name", "ours")]));
    assert_eq!(tenant.get("/v1/brand-settings").data(200)["company_name"], "ours");
}
