//! Receivers behind TLS whose certificates end soon, or have ended.

use super::{commands, diagnosis};
use crate::rig::certificate::self_signed;
use crate::rig::{Desk, wait_until, wire};
use postrider_core::time::Timestamp;
use rcgen::{CertificateParams, date_time_ymd};
use serde_json::{Value, json};
use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::SystemTime;
use tokio_rustls::rustls::{ServerConnection, StreamOwned};

/// A receiver whose certificate ends at the beginning of a day, so many days from today: its URL, and what to trust.
fn receiver(days: i64) -> (String, String) {
    let today = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() / (24 * 3600);
    let date = Timestamp::from_day(today.checked_add_signed(days).unwrap()).to_string();
    let part = |from: usize, to: usize| date[from..to].parse::<u16>().unwrap();
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after =
        date_time_ymd(part(0, 4).into(), part(5, 7).try_into().unwrap(), part(8, 10).try_into().unwrap());
    let ((config, trusted), listener) = (self_signed(&params), TcpListener::bind("127.0.0.1:0").unwrap());
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            // One that is broken off is as good.
            let _ = answer(StreamOwned::new(connection, stream.unwrap()));
        }
    });
    (url, trusted)
}

fn answer(stream: StreamOwned<ServerConnection, TcpStream>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    if wire::read(&mut stream)?.is_some() {
        let stream = stream.get_mut();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")?;
        stream.flush()?;
    }
    Ok(())
}

/// A destination that was tried once, under this name.
fn tried(desk: &Desk, name: &str, days: i64) -> String {
    let ((url, ca_pem), api) = (receiver(days), desk.gateway.api());
    let id = api.make("/v1/destinations", &json!({ "name": name, "url": url, "ca_pem": ca_pem }));
    let report = api.post(&format!("/v1/destinations/{id}/test"), &json!({})).data(200);
    assert_eq!(report["response_status"].is_u64(), days > 0, "{report}");
    id
}

fn certificates(desk: &Desk) -> Vec<Value> {
    desk.gateway.api().get("/v1/queue").data(200)["certificates"].as_array().unwrap().clone()
}

#[test]
fn certificates_that_end_soon_are_named_before_deliveries_fail() {
    let desk = Desk::new();
    tried(&desk, "far", 20);
    assert_eq!(certificates(&desk), Vec::<Value>::new());
    let soon = tried(&desk, "soon", 10);
    let (finding, code) = diagnosis(&desk, "certificate_expires");
    assert_eq!((finding["severity"].as_str(), code), (Some("warning"), 2));
    let sentence = finding["diagnosis"].as_str().unwrap();
    assert!(
        sentence.starts_with(&format!("The certificate of \"soon\" ({soon}) expires in 9 days")),
        "{sentence}"
    );
    assert!(commands(&finding).contains(&format!("postrider destinations test {soon}")), "{finding}");

    let over = tried(&desk, "over", -1);
    let (finding, code) = diagnosis(&desk, "certificate_expires");
    assert_eq!((finding["severity"].as_str(), code), (Some("critical"), 3));
    let sentence = finding["diagnosis"].as_str().unwrap();
    assert!(sentence.starts_with(&format!("The certificate of \"over\" ({over}) has expired")), "{sentence}");
    let ids: Vec<Value> = certificates(&desk).iter().map(|shown| shown["destination_id"].clone()).collect();
    assert_eq!(ids, [json!(over), json!(soon)], "the nearest first");

    // Nobody else is told of them, and one that has gone elsewhere has its own certificate.
    let other = desk.gateway.api().post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let theirs = desk.gateway.api().with_key(other["api_key"]["key"].as_str().unwrap());
    assert_eq!(theirs.get("/v1/queue").data(200)["certificates"], json!([]));
    let elsewhere = json!({ "url": "https://localhost:9/" });
    for id in [&soon, &over] {
        desk.gateway.api().patch(&format!("/v1/destinations/{id}"), &elsewhere).data(200);
    }
    wait_until("nothing ends soon", || certificates(&desk).is_empty().then_some(()));
}
