//! When it cannot serve it says why in a sentence, with exit code 1, and leaves others alone.

use crate::rig::small_disk::SmallDisk;
use crate::rig::{Sink, Site};
use serde_json::json;
use std::net::TcpListener;

/// As an operator may choose it.
pub(super) const CHOSEN_KEY: &str = "0123456789abcdef0123456789abcdef";

/// A start that must be refused with a message that holds all of these.
pub(super) fn check_refused(site: &Site, said: &[&str]) {
    let ended = site.refused();
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(!ended.out.contains("listening"), "{}", ended.out);
    for part in said {
        assert!(ended.err.contains(part), "{part:?} is not in\n{}", ended.err);
    }
    for trace in ["panicked", "BACKTRACE", "backtrace", "unwrap", ".rs:"] {
        assert!(!ended.err.contains(trace), "a person is shown {trace:?}:\n{}", ended.err);
    }
}

#[test]
fn a_data_directory_that_cannot_be_used_is_named() {
    let site = Site::closed();
    std::fs::write(site.data_dir(), "a file").unwrap();
    check_refused(&site, &["data directory", site.data_dir().to_str().unwrap()]);

    let below = site.data_dir().join("below");
    let site = site.data_in(below);
    check_refused(&site, &["data directory", site.data_dir().to_str().unwrap()]);

    let disk = SmallDisk::read_only();
    let site = Site::closed().data_in(disk.path().join("data"));
    check_refused(&site, &["data directory", site.data_dir().to_str().unwrap(), "ead-only"]);
}

#[test]
fn a_database_that_is_none_is_named() {
    let site = Site::closed();
    site.start().stop();
    std::fs::write(site.data_dir().join("live.db"), "nothing that SQLite has written".repeat(1000)).unwrap();
    // A log that was left behind would bring the pages back.
    std::fs::remove_file(site.data_dir().join("live.db-wal")).ok();
    check_refused(&site, &["live.db"]);
}

#[test]
fn an_admin_key_file_without_a_key_is_named() {
    let site = Site::closed();
    std::fs::create_dir(site.data_dir()).unwrap();
    std::fs::write(site.data_dir().join("admin.key"), "").unwrap();
    check_refused(&site, &["admin.key"]);
    std::fs::write(site.data_dir().join("admin.key"), [0xff; 64]).unwrap();
    check_refused(&site, &["admin.key"]);
}

#[test]
fn it_does_not_listen_to_the_world_without_an_admin_key() {
    let site = Site::closed().with(&["--listen", "0.0.0.0:0"]);
    for _ in 0..2 {
        check_refused(
            &site,
            &["0.0.0.0:0 without an admin key", "POSTRIDER_ADMIN_KEY", "127.0.0.1", "admin.key"],
        );
    }
    assert!(!site.data_dir().exists(), "nothing is left behind");
    let given = Site::closed().with(&["--listen", "0.0.0.0:0"]).variable("POSTRIDER_ADMIN_KEY", CHOSEN_KEY);
    given.start().stop();
}

#[test]
fn an_address_that_is_taken_is_named() {
    let site = Site::closed();
    let _taken = TcpListener::bind(site.address()).unwrap();
    check_refused(&site, &[&site.address().to_string(), "--listen"]);
}

#[test]
fn a_configuration_that_cannot_be_read_is_named() {
    let site = Site::closed().with(&["--config", "no-such.toml"]);
    check_refused(&site, &["no-such.toml"]);
    check_refused(&Site::closed().config("listen = "), &["postrider.toml"]);
    check_refused(&Site::closed().with(&["--log", "a=b=c"]), &["log"]);
}

#[test]
fn a_second_process_on_the_same_data_refuses_and_the_first_goes_on() {
    let (sink, site) = (Sink::start(), Site::new());
    let mut first = site.start();
    let (_, path) = first.api().source();
    first.api().destination(&sink.url("/first"), &json!({}));

    let second = Site::new().data_in(site.data_dir().to_owned());
    check_refused(&second, &["in use by another process", site.data_dir().to_str().unwrap()]);

    assert!(first.is_running());
    first.api().send(&path, &[], b"still here");
    assert_eq!(sink.wait_for("/first", 1)[0].body, b"still here");
}
