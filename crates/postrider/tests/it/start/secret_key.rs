//! Secrets at rest: sealed with a key beside the database or in the settings, and unreadable without it.

use super::refusals::check_refused;
use crate::rig::Site;
use serde_json::json;
use std::fs;
use std::path::Path;

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const OTHER: &str = "//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=";
const PLANTED: [&str; 4] =
    ["planted-bearer", "planted-header", "planted-source", "whsec_cGxhbnRlZC1wbGFudGVkLXBsYW50ZWQh"];

/// Configures something with each kind of secret in it and stops.
fn plant(site: &Site) {
    let gateway = site.start();
    let api = gateway.api();
    let destination = json!({
        "name": "d", "url": "https://example.com/", "signing_secret": PLANTED[3],
        "auth_config": {"type": "bearer", "token": PLANTED[0]}, "custom_headers": {"x-key": PLANTED[1]},
    });
    api.post("/v1/destinations", &destination).data(201);
    let config = json!({"header": "x-secret", "secret": PLANTED[2]});
    let source = json!({"name": "s", "auth_mode": "shared_secret", "verification_config": config});
    api.post("/v1/sources", &source).data(201);
    gateway.stop();
}

fn files(directory: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![fs::read(path).unwrap()] })
        .collect()
}

fn holds(file: &[u8], text: &str) -> bool {
    file.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn no_file_of_the_data_directory_holds_a_secret() {
    let site = Site::new();
    plant(&site);
    let files = files(site.data_dir());
    assert!(files.iter().any(|file| holds(file, "https://example.com/")), "the database was looked at");
    for secret in PLANTED {
        assert!(!files.iter().any(|file| holds(file, secret)), "{secret} is in a file");
    }
}

#[test]
fn without_its_key_file_the_gateway_refuses_and_says_what_to_do() {
    let site = Site::new();
    plant(&site);
    let file = site.data_dir().join("secret.key");
    let kept = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    check_refused(&site, &["sealed with another key", "secret.key"]);
    fs::write(&file, "not a key\n").unwrap();
    check_refused(&site, &["secret.key holds no key"]);
    fs::write(&file, kept).unwrap();
    assert_eq!(site.start().api().get("/v1/sources").data(200).as_array().unwrap().len(), 2);
}

#[test]
fn a_key_from_the_settings_is_used_and_can_be_replaced() {
    let site = Site::new().variable("POSTRIDER_SECRET_KEY", KEY);
    plant(&site);
    assert!(!site.data_dir().join("secret.key").exists());
    let site = site.variable("POSTRIDER_SECRET_KEY", OTHER);
    check_refused(&site, &["sealed with another key"]);
    let site = site.variable("POSTRIDER_SECRET_KEY", format!("{OTHER},{KEY}"));
    site.start().stop();
}

#[test]
fn a_key_that_is_none_is_refused_and_not_repeated() {
    for bad in ["short", "AAECAwQ=", &format!("{KEY},x")] {
        let site = Site::new().variable("POSTRIDER_SECRET_KEY", bad);
        check_refused(&site, &["POSTRIDER_SECRET_KEY", "openssl rand -base64 32"]);
        assert!(!site.refused().err.contains(bad));
    }
}
