//! A body that is refused before it is read: its sender gets the answer, whatever it still sends.

use crate::rig::client::{Client, chunked_request, request};
use crate::rig::foreign_program::{foreign_program, run};
use crate::rig::{Api, Site};
use serde_json::json;

/// More than there is room for in any socket on the way.
const LARGE: usize = 20_000_000;
const TIMES: usize = 20;

/// Sends all of a request before it looks for the answer, as many clients do; gives its status.
fn send_all(api: &Api, bytes: &[u8]) -> Result<u16, String> {
    let mut client = Client::connect(api.address).map_err(|error| error.to_string())?;
    client.write(bytes).map_err(|error| format!("sending: {error}"))?;
    let answer = client.answer().map_err(|error| format!("reading: {error}"))?;
    assert_eq!(answer.headers.get("connection"), Some("close"), "no other request may follow on it");
    Ok(answer.status)
}

/// A source whose rate is used up for the next quarter of an hour.
fn limited_source(api: &Api) -> String {
    let limit = json!({ "name": "limited", "rate_limit": { "per_second": 0.001, "burst": 1 } });
    let limited = api.post("/v1/sources", &limit).data(201);
    let path = format!("/ingest/{}", limited["path_token"].as_str().unwrap());
    api.send(&path, &[], b"{}");
    path
}

#[test]
fn a_client_that_sends_all_of_its_body_first_gets_the_refusal() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let limited = limited_source(&api);
    let body = vec![b'x'; LARGE];
    let bearer = format!("Bearer {}", api.key);
    let rows: [(&str, Vec<u8>, u16); 6] = [
        ("413", request("POST", &path, &[], &body), 413),
        ("413 in chunks", chunked_request(&path, &body, 60_000), 413),
        ("413 of a batch", request("POST", "/v1/events/batch", &[("authorization", &bearer)], &body), 413),
        ("429", request("POST", &limited, &[], &body[..4_000_000]), 429),
        ("401", request("POST", "/v1/outbound-events", &[], &body), 401),
        ("404", request("POST", "/nothing/here", &[], &body), 404),
    ];
    for (name, bytes, status) in rows {
        for number in 0..TIMES / 4 {
            assert_eq!(send_all(&api, &bytes), Ok(status), "{name}, number {number}");
        }
    }
}

#[test]
fn a_small_body_that_is_refused_leaves_its_connection_open() {
    let site = Site::new();
    let gateway = site.start();
    let mut client = Client::connect(site.address()).unwrap();
    for (path, bytes) in [
        ("/ingest/nobody", 10),
        ("/ingest/nobody", 3000),
        ("/v1/destinations", 3000),
        ("/v1/destinations", 60_000),
        ("/nothing/here", 60_000),
    ] {
        let answer = client.exchange(&request("POST", path, &[], &vec![b'x'; bytes])).unwrap();
        assert!([401, 404].contains(&answer.status), "{answer}");
        assert_eq!(answer.headers.get("connection"), None, "{bytes} bytes to {path}");
    }
    drop(gateway);
}

/// A client of each language, as its users have it.
const CLIENTS: [&str; 4] = ["post.py", "post.mjs", "post.go", "Post.java"];

#[test]
fn the_standard_clients_of_four_languages_get_every_refusal() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let limited = limited_source(&api);
    for client in CLIENTS {
        for (path, bytes, status) in [
            (path.as_str(), LARGE / 2, "413"),
            (&limited, LARGE / 5, "429"),
            ("/v1/outbound-events", LARGE / 10, "401"),
        ] {
            let mut program = foreign_program(&format!("bad_input/clients/{client}"));
            program.arg(format!("http://{}{path}", site.address()));
            let ran = run(program.args([bytes.to_string(), TIMES.to_string()]));
            let said = String::from_utf8_lossy(&ran.stdout).into_owned();
            let answers = said.lines().filter(|line| *line == status).count();
            let complained = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(answers, TIMES, "{client} was not answered {status}: {said}{complained}");
        }
    }
}
