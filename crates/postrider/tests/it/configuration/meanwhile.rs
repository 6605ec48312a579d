//! What somebody else changes while a plan is carried out is not overwritten.

use super::command::Desk;
use crate::rig::{Api, Gateway};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// Stands between a person and a gateway, and lets somebody else act just before a request with this method.
pub(super) fn before(
    gateway: &Gateway,
    method: &'static str,
    act: impl Fn(&Api) + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, api) = (listener.local_addr().unwrap(), gateway.api());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (Ok(mut person), Ok(mut gateway)) = (stream, TcpStream::connect(api.address)) else { return };
            let mut head = [0; 65536];
            let Ok(read) = person.read(&mut head) else { return };
            if head.starts_with(method.as_bytes()) {
                act(&api);
            }
            let _ = gateway.write_all(&head[..read]);
            let (mut from, mut to) = (person.try_clone().unwrap(), gateway.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut from, &mut to));
            thread::spawn(move || std::io::copy(&mut gateway, &mut person));
        }
    });
    address
}

const FILE: &str = "destinations: [{name: billing, url: https://example.com, timeout_seconds: 20}]\nroutes: [{destination: billing}]\n";

/// Somebody else acts before a request of this method; gives how the apply ended.
fn check(method: &'static str, args: &[&str], file: &str) {
    let mut desk = Desk::with_secrets();
    desk.apply(FILE).out(0);
    let destination = desk.object("/v1/destinations", "billing");
    let path = format!("/v1/destinations/{}", destination["id"].as_str().unwrap());
    let change = move |api: &Api| drop(api.patch(&path, &json!({ "max_concurrency": 42 })).data(200));
    desk.url = format!("http://{}", before(&desk.gateway, method, change));
    let applied = desk.run(&[&["apply", "-f", "-", "--yes"], args].concat(), file);
    assert!(applied.err().contains("it was changed by someone else in the meantime"), "{applied:?}");
    let now = desk.object("/v1/destinations", "billing");
    assert_eq!((&now["timeout_seconds"], &now["max_concurrency"]), (&20.into(), &42.into()));
}

#[test]
fn a_change_by_somebody_else_is_not_overwritten() {
    check("PATCH", &[], &FILE.replace("timeout_seconds: 20", "timeout_seconds: 30"));
}

#[test]
fn what_somebody_else_has_just_changed_is_not_deleted() {
    check("DELETE /v1/destinations", &["--prune"], "");
}

#[test]
fn a_change_between_plan_and_apply_is_seen() {
    check("GET /v1/destinations/", &[], &FILE.replace("timeout_seconds: 20", "timeout_seconds: 30"));
}
