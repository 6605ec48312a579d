//! Settings: flags over environment over file, and every mistake told at once.

use crate::rig::Site;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Where the settings of a start come from; what is empty is not said there.
struct Said<'a> {
    file: &'a str,
    variable: &'a str,
    flag: &'a str,
}

/// The address that ingest URLs begin with shows which setting counts.
fn check_public_url(said: &Said<'_>, counts: &str) {
    let mut site = Site::new();
    if !said.file.is_empty() {
        site = site.config(&format!("public_url = {:?}", said.file));
    }
    if !said.variable.is_empty() {
        site = site.variable("POSTRIDER_PUBLIC_URL", said.variable);
    }
    if !said.flag.is_empty() {
        site = site.with(&["--public-url", said.flag]);
    }
    let gateway = site.start();
    let sources = gateway.api().get("/v1/sources").data(200);
    let url = sources[0]["ingest_url"].as_str().unwrap();
    assert!(url.starts_with(&format!("{counts}/ingest/src_")), "{url}");
}

#[test]
fn flags_stand_over_the_environment_and_that_over_the_file() {
    let (file, variable, flag) = ("https://file.test", "https://variable.test", "https://flag.test");
    check_public_url(&Said { file, variable: "", flag: "" }, file);
    check_public_url(&Said { file, variable, flag: "" }, variable);
    check_public_url(&Said { file, variable, flag }, flag);
    check_public_url(&Said { file, variable: "", flag }, flag);
}

#[test]
fn the_file_can_be_named_by_the_environment() {
    let site = Site::new();
    let file = site.write_config("public_url = \"https://named.test\"");
    let site = site.variable("POSTRIDER_CONFIG", &file);
    let sources = site.start().api().get("/v1/sources").data(200);
    assert!(sources[0]["ingest_url"].as_str().unwrap().starts_with("https://named.test/"), "{sources}");
}

#[test]
fn a_gateway_that_listens_everywhere_and_has_no_name_says_so() {
    let site = |args: &[&str]| {
        Site::closed().with(args).variable("POSTRIDER_ADMIN_KEY", super::refusals::CHOSEN_KEY)
    };
    let warned = |site: Site| site.start().stop().err.contains("public_url is not set");
    assert!(warned(site(&["--listen", "0.0.0.0:0"])));
    assert!(warned(site(&["--listen", "[::]:0"])));
    assert!(!warned(site(&["--listen", "0.0.0.0:0", "--public-url", "https://hooks.test"])));
    assert!(!warned(site(&[])));
}

#[test]
fn the_environment_alone_is_enough() {
    let site = Site::closed();
    let address = site.address().to_string();
    let site = site.variable("POSTRIDER_LISTEN", &address).variable("POSTRIDER_DATA_DIR", "elsewhere");
    let gateway = site.start();
    assert!(gateway.out().contains(&address), "{}", gateway.out());
    assert!(site.path().join("elsewhere/admin.key").exists());
}

#[test]
fn variables_that_are_not_text_are_no_reason_to_break() {
    let not_text = OsStr::from_bytes(b"\xff\xfe");
    let site = Site::closed().variable("SOMEBODY_ELSES", not_text);
    site.start().api().get("/v1/sources").data(200);
    let ended = Site::closed().variable("POSTRIDER_LOG", not_text).refused();
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains("POSTRIDER_LOG") && !ended.err.contains("panicked"), "{}", ended.err);
}

#[test]
fn all_mistakes_are_told_at_once_each_with_its_key_and_what_is_allowed() {
    let file = r#"
        listne = "127.0.0.1:80"
        retention_days = 0
        retention_bytes = true
        log_format = "xml"
        [[destinations]]
        name = "first"
        url = "ftp://example.com"
        max_concurrency = 0
        [[destinations]]
        name = "second"
        timeout_seconds = 1.5
        colour = "red"
        retry_policy = { jitter = "some" }
    "#;
    let site = Site::closed()
        .config(file)
        .variable("POSTRIDER_GRACE_SECONDS", "soon")
        .variable("POSTRIDER_ADMIN_KEY", "too short")
        .variable("POSTRIDER_NO_SUCH_THING", "1")
        .with(&["--slots=-1", "--egress-allow", "10.0.0.0/99", "--listen", "here"])
        .with(&["--disk-reserve", "much", "--public-url", "example.com", "--workers", "1000000"]);
    let ended = site.refused();
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    for (key, allowed) in [
        ("listne", "no such setting"),
        ("retention_days", "from 1 to 3650"),
        ("retention_bytes", "must be"),
        ("log_format", "text or json"),
        ("destinations[0].url", "https://"),
        ("destinations[0].max_concurrency", "from 1 to 1000"),
        ("destinations[1].url", "missing"),
        ("destinations[1].timeout_seconds", "whole number"),
        ("destinations[1].colour", "no such field"),
        ("destinations[1].retry_policy.jitter", "full"),
        ("POSTRIDER_GRACE_SECONDS", "from 0 to 3600"),
        ("POSTRIDER_ADMIN_KEY", "20 to 256"),
        ("POSTRIDER_NO_SUCH_THING", "no such setting"),
        ("--slots", "from 1 to 16384"),
        ("--egress-allow", "10.0.0.0/8"),
        ("--listen", "127.0.0.1:8080"),
        ("--disk-reserve", "64MiB"),
        ("--public-url", "https://"),
        ("--workers", "from 1 to 256"),
    ] {
        let told = ended.err.lines().find(|line| line.trim().starts_with(key));
        assert!(told.is_some_and(|line| line.contains(allowed)), "{key}: {allowed}? not in\n{}", ended.err);
    }
    assert!(!ended.err.contains("too short"), "a key, even a bad one, is not repeated:\n{}", ended.err);
    assert!(!site.data_dir().exists(), "nothing was begun");
}
