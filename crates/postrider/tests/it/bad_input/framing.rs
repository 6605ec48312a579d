//! Requests whose length can be read in two ways are how one client smuggles a request past another.

use super::check_unharmed;
use crate::rig::Site;
use crate::rig::client::{Client, head};

#[test]
fn a_request_of_two_lengths_makes_no_second_event() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let hidden = String::from_utf8(
        [&head("POST", &path, &[("x-hidden", "yes")])[..], b"content-length: 2\r\n\r\n{}"].concat(),
    )
    .unwrap();
    let both = [("transfer-encoding", "chunked"), ("content-length", "4")];
    for (headers, body) in [
        (&both[..], format!("0\r\n\r\n{hidden}")),
        (&[("content-length", "4"), ("transfer-encoding", "chunked")], format!("0\r\n\r\n{hidden}")),
        (&[("transfer-encoding", "xchunked"), ("content-length", "4")], format!("{{  }}{hidden}")),
        (&[("transfer-encoding", " chunked"), ("transfer-encoding", "x")], format!("0\r\n\r\n{hidden}")),
    ] {
        let mut client = Client::connect(site.address()).unwrap();
        let bytes = [&head("POST", &path, headers)[..], b"\r\n", body.as_bytes()].concat();
        client.write(&bytes).unwrap();
        client.end().unwrap();
        let answers: Vec<u16> =
            std::iter::from_fn(|| client.answer().ok().map(|answer| answer.status)).collect();
        assert!(
            answers.len() <= 1 || answers[0] >= 400,
            "{headers:?} was read as {} requests",
            answers.len()
        );
    }
    let events = api.get("/v1/events").data(200);
    let smuggled =
        events["items"].as_array().unwrap().iter().filter(|event| !event["headers"]["x-hidden"].is_null());
    assert_eq!(smuggled.count(), 0, "{events}");
}

#[test]
fn a_connection_that_says_nothing_harms_nobody() {
    let site = Site::new();
    let mut gateway = site.start();
    let address = site.address();
    check_unharmed(&mut gateway, |api, _| {
        let silent: Vec<Client> = (0..200).map(|_| Client::connect(address).unwrap()).collect();
        api.get("/healthz").json();
        drop(silent);
    });
}
