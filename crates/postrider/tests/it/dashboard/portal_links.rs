//! Links to the portal that somebody else has written: none takes a guest out of their portal unasked, or leads them to an
//! address that their account did not give.

use super::browser::{Browser, next};
use super::portal::{Guest, tenant};
use crate::rig::api::text;
use crate::rig::{Api, Site};
use serde_json::json;

const HOME: &str = "/portal/destinations";

fn link(api: &Api, body: &serde_json::Value) -> String {
    text(&api.post("/v1/portal-sessions", body).data(201)["url"])
}

fn field(page: &str, name: &str) -> String {
    let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\"")).expect("the page has this field");
    rest.split('"').next().unwrap().replace("&#38;", "&")
}

#[test]
fn another_link_asks_before_it_takes_a_guest_out_of_their_portal() {
    let site = Site::new();
    let gateway = site.start();
    let (ours, theirs) = (tenant(&gateway, "ours"), tenant(&gateway, "theirs"));
    for (api, name) in [(&ours, "Our shop"), (&theirs, "\u{202e}Evil <b>")] {
        api.patch("/v1/brand-settings", &json!({ "company_name": name })).data(200);
    }
    let guest = Guest::by_link(&ours, &json!({}));
    let other = link(&theirs, &json!({ "return_url": "https://evil.test/" }));
    let asked = guest.0.submit("/portal", &[("token", &other)], &[]);
    assert_eq!((asked.status, asked.headers.get("set-cookie")), (200, None), "{asked}");
    let asked = String::from_utf8(asked.body).unwrap();
    for part in ["Our shop", "Evil &#60;b&#62;", "Open the other portal"] {
        assert!(asked.contains(part), "{part} is not in {asked}");
    }
    assert!(!asked.contains("<b>") && !asked.contains("href=\"https://evil.test"), "{asked}");
    assert!(guest.page(HOME).contains("Our shop"), "nothing has changed");
    for agreed in ["", "yes", "forged"] {
        let again = guest.0.submit("/portal", &[("token", &other), ("form_token", agreed)], &[]);
        assert_eq!((again.status, again.headers.get("set-cookie")), (200, None), "{again}");
    }

    let fields = [("form_token", field(&asked, "form_token")), ("token", field(&asked, "token"))];
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let opened = guest.0.submit("/portal", &fields, &[]);
    assert_eq!(next(&opened), HOME);
    assert_eq!(guest.0.send("GET", HOME, &[], "").status, 401, "the session that was left is over");
    let mut after = Browser::stranger(&ours);
    after.cookie = opened.headers.get("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let page = after.page(HOME);
    assert!(page.contains("Evil &#60;b&#62;") && page.contains("href=\"https://evil.test/\""), "{page}");
}

#[test]
fn a_link_signs_nobody_in_unasked() {
    let site = Site::new();
    let gateway = site.start();
    let theirs = tenant(&gateway, "theirs");
    theirs.patch("/v1/brand-settings", &json!({ "company_name": "\u{202e}Evil <b>" })).data(200);
    let guest = Browser::stranger(&theirs);
    for written in [
        link(&theirs, &json!({})),
        link(&theirs, &json!({ "return_url": "https://evil.test/" })),
        format!("{}&return_url=https%3A%2F%2Fevil.test%2F&confirmed=yes", link(&theirs, &json!({}))),
    ] {
        // As the script of the page sends what stands in the address, and as another page would.
        let behind = written.split_once('#').unwrap().1;
        let asked = guest.submit("/portal", &[("token", behind)], &[]);
        assert_eq!((asked.status, asked.headers.get("set-cookie")), (200, None), "{asked}");
        let page = String::from_utf8(asked.body).unwrap();
        assert!(
            page.contains("Evil &#60;b&#62;")
                && !page.contains("<b>")
                && !page.contains("href=\"https://evil")
        );
        let agreed = [("token", field(&page, "token")), ("confirmed", field(&page, "confirmed"))];
        let agreed = agreed.each_ref().map(|(name, value)| (*name, value.as_str()));
        let elsewhere = guest.submit("/portal", &agreed, &[("origin", "https://evil.test")]);
        assert_eq!((elsewhere.status, elsewhere.headers.get("set-cookie")), (403, None), "{elsewhere}");
        let opened = guest.submit("/portal", &agreed, &[]);
        assert_eq!(next(&opened), HOME);
    }
}

#[test]
fn a_link_that_does_not_work_ends_nobodys_session_and_the_same_link_needs_no_question() {
    let site = Site::new();
    let gateway = site.start();
    let ours = tenant(&gateway, "ours");
    let own = link(&ours, &json!({}));
    let mut guest = Browser::stranger(&ours);
    for _ in 0..2 {
        let opened = guest.submit("/portal", &[("token", &own), ("confirmed", "yes")], &[]);
        assert_eq!(next(&opened), HOME);
        guest.cookie = opened.headers.get("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    }
    let wrong = guest.submit("/portal", &[("token", "hk_wrong")], &[]);
    assert_eq!((wrong.status, wrong.headers.get("set-cookie")), (401, None), "{wrong}");
    guest.page(HOME);
}

#[test]
fn a_link_leads_back_only_where_its_account_has_said() {
    let site = Site::new();
    let gateway = site.start();
    let ours = tenant(&gateway, "ours");
    let back = |link: &str| {
        let mut guest = Browser::stranger(&ours);
        let opened = guest.submit("/portal", &[("token", link), ("confirmed", "yes")], &[]);
        assert_eq!(next(&opened), HOME, "{link}");
        guest.cookie = opened.headers.get("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        let page = guest.page(HOME);
        page.split_once("rel=\"noreferrer\">Back to")
            .map(|(before, _)| before.rsplit("href=\"").next().unwrap().split('"').next().unwrap().to_owned())
    };
    let said = link(&ours, &json!({ "return_url": "https://shop.test/back" }));
    assert_eq!(back(&said).as_deref(), Some("https://shop.test/back"));
    let plain = link(&ours, &json!({}));
    let proof = said.split_once("&proof=").expect("the link proves it").1;
    let evil = "&return_url=https%3A%2F%2Fevil.test%2F";
    for written in [
        format!("{plain}{evil}"),
        format!("{plain}{evil}&proof="),
        format!("{plain}{evil}&proof={proof}"),
        format!("{plain}&return_url=https%3A%2F%2Fshop.test%2Fback&proof={proof}"),
        said.replace("shop.test", "evil.test"),
        said.replace("&proof=", "&proof=A"),
    ] {
        assert_eq!(back(&written), None, "{written}");
    }
}
