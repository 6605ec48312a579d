//! The first second: the banner, the admin key, and three lines to paste.

use super::refusals::{CHOSEN_KEY, check_refused};
use crate::command::pseudo_terminal::PseudoTerminal;
use crate::rig::api::text;
use crate::rig::{Api, Gateway, Sink, Site, wait::PATIENCE, wait_until};
use postrider_postgres::testing::Server;
use postrider_torture::rig::tied;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

#[test]
fn the_first_start_says_where_it_listens_and_keeps_data_and_how_to_get_in() {
    let site = Site::new();
    let gateway = site.start();
    let (banner, key) = (gateway.out(), gateway.api().key);
    assert!(key.starts_with("hk_") && key.len() > 30, "{key}");
    let data_dir = site.data_dir().display().to_string();
    for told in [&format!("http://{}", site.address()), &data_dir, &format!("{data_dir}/admin.key")] {
        assert!(banner.contains(told.as_str()), "{told} is not in\n{banner}");
    }
    assert_eq!(curl_lines(&gateway).len(), 3, "{banner}");
    gateway.api().get("/v1/destinations").data(200);
}

#[test]
fn keys_and_tokens_are_shown_on_a_terminal_and_written_to_no_journal() {
    let site = Site::new();
    let gateway = site.start();
    let token = |api: &Api| text(&api.get("/v1/sources").data(200)[0]["path_token"]);
    let said = gateway.out() + &gateway.err();
    for secret in [gateway.api().key, token(&gateway.api())] {
        assert!(secret.len() > 30 && !said.contains(&secret), "{said}");
    }

    let shown = Site::new();
    let mut command = tied::command(env!("CARGO_BIN_EXE_postrider"));
    let directory = shown.data_dir().to_str().unwrap();
    command.args(["serve", "--listen", &shown.address().to_string(), "--data-dir", directory]);
    let terminal = PseudoTerminal::start(command, 500);
    let key = wait_until("the banner is whole", || {
        let whole = terminal.text().contains("hello.world") && terminal.text().contains("egress-allow");
        whole.then(|| std::fs::read_to_string(shown.data_dir().join("admin.key")).unwrap())
    });
    let api = Api { address: shown.address(), key: key.trim().to_owned() };
    for secret in [api.key.clone(), token(&api)] {
        assert!(terminal.text().contains(&secret), "{}", terminal.text());
    }
}

#[test]
fn a_key_that_only_a_database_would_keep_is_not_made_where_nobody_sees_it() {
    let database = Server::shared().database();
    let site = Site::new().with(&["--database-url", &database]);
    check_refused(&site, &["cannot create an admin key", "no terminal", "POSTRIDER_ADMIN_KEY"]);
    let site = site.variable("POSTRIDER_ADMIN_KEY", CHOSEN_KEY);
    site.start().api().get("/v1/sources").data(200);
}

#[test]
fn a_key_that_could_be_guessed_is_refused() {
    for weak in [
        "short",
        "0123456789abcdef012",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "abcabcabcabcabcabcabcabc",
        "with a space in the middle",
    ] {
        let site = Site::closed().variable("POSTRIDER_ADMIN_KEY", weak);
        check_refused(&site, &["POSTRIDER_ADMIN_KEY: must be 20 to 256", "at least 8 of them different"]);
        let ended = site.refused();
        assert!(!ended.err.contains(weak), "it is not repeated: {}", ended.err);
        let site = Site::closed();
        std::fs::create_dir(site.data_dir()).unwrap();
        std::fs::write(site.data_dir().join("admin.key"), weak).unwrap();
        check_refused(&site, &["admin.key must be 20 to 256", "delete it to create a new one"]);
    }
    Site::closed().variable("POSTRIDER_ADMIN_KEY", CHOSEN_KEY).start();
}

#[test]
fn the_banner_comes_within_a_second() {
    // A machine that is busy with other tests may be late; one that is always late is too slow.
    let starts = (0..5).map(|_| Site::new().start().wait_for_banner());
    let fastest = starts.min().unwrap();
    assert!(fastest <= Duration::from_secs(1), "the fastest of five starts took {fastest:?}");
}

#[test]
fn a_later_start_keeps_the_admin_key_and_does_not_tell_it() {
    let site = Site::new();
    let first = site.start();
    let key = first.api().key;
    assert_eq!(first.stop().code, Some(0));
    let second = site.start();
    assert_eq!(second.api().key, key);
    second.api().get("/v1/sources").data(200);
    assert!(!second.out().contains(&key), "{}", second.out());
    assert!(second.out().contains("admin.key"), "{}", second.out());
}

#[test]
fn only_the_owner_can_read_keys_and_data() {
    let site = Site::new();
    std::fs::create_dir(site.data_dir()).unwrap();
    std::fs::set_permissions(site.data_dir(), PermissionsExt::from_mode(0o755)).unwrap();
    let _gateway = site.start();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&site.data_dir().join("admin.key")), 0o600);
    assert_eq!(mode(site.data_dir()), 0o700);
}

const GIVEN_KEY: &str = "a-key-of-the-operator";

#[test]
fn an_admin_key_from_the_environment_stands_instead_of_a_made_one() {
    let site = Site::new().variable("POSTRIDER_ADMIN_KEY", GIVEN_KEY);
    let gateway = site.start();
    assert!(!site.data_dir().join("admin.key").exists());
    let said = gateway.out() + &gateway.err();
    assert!(said.contains("POSTRIDER_ADMIN_KEY") && !said.contains(GIVEN_KEY), "{said}");
    let anyone = crate::rig::Api { address: site.address(), key: String::new() };
    anyone.with_key(GIVEN_KEY).get("/v1/sources").data(200);
    anyone.with_key("a-key-of-somebody-else").get("/v1/sources").refusal(401);
}

#[test]
fn an_admin_key_from_the_environment_takes_the_place_of_the_one_in_the_file() {
    let site = Site::new();
    let before = site.start();
    let old = before.api();
    before.stop();
    let site = site.variable("POSTRIDER_ADMIN_KEY", GIVEN_KEY);
    let _gateway = site.start();
    old.with_key(GIVEN_KEY).get("/v1/sources").data(200);
    old.get("/v1/sources").refusal(401);
}

#[test]
fn the_three_lines_send_a_first_event_when_they_are_pasted() {
    let site = Site::new();
    check_pasted(&site, "");
}

#[test]
fn the_three_lines_of_a_later_start_work_too_in_a_directory_with_a_difficult_name() {
    let site = Site::new();
    let difficult = site.path().join("it's \"my\" $data; (new) ä");
    let site = site.data_in(difficult);
    site.start().stop();
    check_pasted(&site, "");
}

#[test]
fn the_three_lines_work_with_an_admin_key_from_the_environment() {
    let site = Site::new().variable("POSTRIDER_ADMIN_KEY", GIVEN_KEY);
    check_pasted(&site, GIVEN_KEY);
}

fn check_pasted(site: &Site, given_key: &str) {
    let (sink, gateway) = (Sink::start(), site.start());
    let lines = curl_lines(&gateway).join("\n");
    assert!(lines.contains("https://example.com/hook"), "{lines}");
    let lines = lines.replace("https://example.com/hook", &sink.url("/hook"));
    let done = paste(&lines, given_key);
    assert!(done.status.success() && done.stderr.is_empty(), "{lines}\n{done:?}");
    let arrivals = sink.wait_for("/hook", 1);
    assert_eq!(arrivals[0].body, br#"{"hello":"world"}"#);
    assert_eq!(arrivals[0].headers.get("x-event-type"), Some("hello.world"));
}

/// As a person does it: all lines at once into a shell.
fn paste(lines: &str, admin_key: &str) -> Output {
    let curl = Command::new("curl").arg("--version").output();
    assert!(curl.is_ok(), "this test needs curl, as whoever pastes the lines does; install it");
    let mut shell = Command::new("timeout");
    shell.args([&PATIENCE.as_secs().to_string(), "bash", "-c", lines]);
    shell.env("POSTRIDER_ADMIN_KEY", admin_key).output().expect("there is a shell")
}

fn curl_lines(gateway: &Gateway) -> Vec<String> {
    let banner = gateway.out();
    banner.lines().filter(|line| line.contains("curl ")).map(|line| line.trim().to_owned()).collect()
}
