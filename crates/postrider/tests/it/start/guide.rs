//! The documentation that a gateway serves.

use crate::dashboard::browser::Browser;
use crate::rig::Site;

#[test]
fn the_documentation_is_served_without_a_key_and_without_scripts() {
    let site = Site::new();
    let gateway = site.start();
    let reader = Browser::stranger(&gateway.api());
    let check = |path: &str, status: u16, content_type: &str, text: &str| {
        let answer = reader.send("GET", path, &[], "");
        assert_eq!(
            (answer.status, answer.headers.get("content-type")),
            (status, Some(content_type)),
            "{path}"
        );
        let policy = answer.headers.get("content-security-policy").unwrap_or_default();
        assert!(
            policy.starts_with("default-src 'none'; style-src ") && !policy.contains("script"),
            "{path}: {policy}"
        );
        let page = String::from_utf8(answer.body).unwrap();
        assert!(page.contains(text), "{path} lacks {text}: {page}");
    };
    let html = "text/html; charset=utf-8";
    check("/docs/", 200, html, "href=\"/docs/operating\"");
    check("/docs/operating", 200, html, "id=\"durability\"");
    check("/docs/search?q=retry-after", 200, html, "href=\"/docs/");
    check("/docs/search", 200, html, "No page has all of these words");
    check("/docs/nowhere", 404, html, "Page not found");
    check("/docs/style.css", 200, "text/css", ":root");
    check("/docs/delivery-life-cycle", 200, html, "<img src=\"/docs/images/delivery-lifecycle.svg\"");
    check("/docs/images/delivery-lifecycle.svg", 200, "image/svg+xml", "<title ");
    check("/docs/images/nothing.svg", 404, html, "Page not found");
}
