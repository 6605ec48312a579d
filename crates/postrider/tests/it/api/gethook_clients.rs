//! Clients of GetHook's API in the languages of its SDKs, against the real binary: every call that they make, with answers
//! that are decoded strictly.

use crate::rig::foreign_program::{foreign_program, run};
use crate::rig::{Sink, Site};

fn check(client: &str) {
    let (sink, site) = (Sink::start(), Site::new());
    let _gateway = site.start();
    let mut client = foreign_program(&format!("api/gethook_clients/{client}"));
    client.env("GETHOOK_API_BASE", format!("http://{}", site.address()));
    client.env("GETHOOK_RECEIVER", sink.url("/in"));
    let ran = run(&mut client);
    let [said, complained] = [&ran.stdout, &ran.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(ran.status.success() && said.ends_with(" answers read\n"), "{said}{complained}");
    assert!(sink.count() >= 3, "an event, its replay, and one that was sent");
}

#[test]
fn a_client_in_go_reads_every_answer() {
    check("client.go");
}

#[test]
fn a_client_in_node_reads_every_answer() {
    check("client.mjs");
}
