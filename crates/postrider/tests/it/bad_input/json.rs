//! Bodies that are not JSON, or not the JSON that was asked for.

use super::check_unharmed;
use crate::rig::Site;

const PATHS: [&str; 5] = ["/v1/accounts", "/v1/api-keys", "/v1/sources", "/v1/destinations", "/v1/routes"];

#[test]
fn what_is_not_a_json_object_is_refused_everywhere() {
    let site = Site::new();
    let mut gateway = site.start();
    let (deep_arrays, deep_objects) = ("[".repeat(100_000), "{\"a\":".repeat(40_000));
    let closed = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_field = format!("{{\"name\":{}1{}}}", "[".repeat(50_000), "]".repeat(50_000));
    let bodies: Vec<&[u8]> = vec![
        b"{",
        b"{\"name\":",
        b"{\"name\":\"a\"",
        b"{\"name\":\"a\",}",
        b"{name:\"a\"}",
        b"{'name':'a'}",
        b"{\"name\":\"a\"} trailing",
        b"{\"name\":\"a\"}{\"name\":\"b\"}",
        b"null",
        b"true",
        b"0",
        b"\"name\"",
        b"[]",
        b"[{\"name\":\"a\"}]",
        b"name=a&url=b",
        b"<name>a</name>",
        b"\xef\xbb\xbf{\"name\":\"a\"}",
        b"\xff\xfe\xfd",
        b"{\"name\":\"\xff\"}",
        b"{\"name\":\"\\ud800\"}",
        b"{\"name\":\"\\udc00\\ud800\"}",
        b"{\"name\":\"\\ud83dx\"}",
        b"{\"name\":\"\\x\"}",
        b"{\"name\":\"a\nb\"}",
        b"{\"name\":1e999999}",
        b"{\"name\":NaN}",
        b"{\"name\":01}",
        b"\0",
        deep_arrays.as_bytes(),
        deep_objects.as_bytes(),
        closed.as_bytes(),
        deep_field.as_bytes(),
    ];
    check_unharmed(&mut gateway, |api, faults| {
        for path in PATHS {
            for body in &bodies {
                let answer = api.call("POST", path, &[("content-type", "application/json")], body);
                faults.check(&answer, "body", &format!("{path} {}", String::from_utf8_lossy(body)));
                assert_eq!(answer.status, 400, "{answer}");
            }
        }
    });
}

#[test]
fn an_empty_body_lacks_what_is_required() {
    let site = Site::new();
    let mut gateway = site.start();
    check_unharmed(&mut gateway, |api, faults| {
        for (path, field) in PATHS.into_iter().zip(["name", "name", "name", "name", "destination_id"]) {
            for body in ["", " ", "{}", "\r\n{ }\n"] {
                faults.check(
                    &api.call("POST", path, &[], body.as_bytes()),
                    field,
                    &format!("{path} {body:?}"),
                );
            }
        }
    });
}

#[test]
fn a_configuration_beyond_its_limit_is_too_large() {
    let site = Site::new();
    let mut gateway = site.start();
    check_unharmed(&mut gateway, |api, _| {
        let body = format!("{{\"name\":\"{}\"}}", "x".repeat(300_000));
        for path in PATHS {
            assert_eq!(api.call("POST", path, &[], body.as_bytes()).code(413), "body_too_large", "{path}");
        }
    });
}
