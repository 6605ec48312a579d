//! Secrets at rest: sealed with a key beside the database or in the settings, and unreadable without it.

use super::refusals::check_refused;
use crate::rig::Site;
use serde_json::json;
use std::fs;

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const OTHER: &str = "//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=";

/// Configures something with a secret in it and stops.
fn seal(site: &Site) {
    let gateway = site.start();
    let api = gateway.api();
    let config = json!({"header": "x-secret", "secret": "a secret"});
    let source = json!({"name": "s", "auth_mode": "shared_secret", "verification_config": config});
    api.post("/v1/sources", &source).data(201);
    gateway.stop();
}

#[test]
fn without_its_key_file_the_gateway_refuses_and_says_what_to_do() {
    let site = Site::new();
    seal(&site);
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
    seal(&site);
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
