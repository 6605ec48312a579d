//! What `deploy/` sets up is what the binary takes, as far as can be told without a container engine or a cluster.

mod kubernetes;
mod sbom;
mod schema;
mod yaml;

use saphyr_parser::{Event, Parser};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

const FILES: [&str; 4] = ["Dockerfile", "compose.yaml", "postrider.service", "kubernetes/postrider.yaml"];

/// The names of settings in a text.
fn variables(text: &str) -> BTreeSet<String> {
    let is_part = |character: char| character.is_ascii_uppercase() || character == '_';
    let names = text.split(|character| !is_part(character)).filter(|word| word.starts_with("POSTRIDER_"));
    names.map(str::to_owned).collect()
}

#[test]
fn every_variable_is_a_setting() {
    let set: BTreeSet<String> = FILES.iter().flat_map(|name| variables(&read(name))).collect();
    assert!(set.contains("POSTRIDER_DATABASE_URL") && set.contains("POSTRIDER_DATA_DIR"), "{set:?}");
    // None of these is a value that any of them takes, so it ends at once and names each with why.
    let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
    let place = tempfile::tempdir().unwrap();
    command.arg("serve").current_dir(place.path()).env_clear().env("POSTRIDER_LISTEN", "nowhere");
    command.envs(set.iter().filter(|name| *name != "POSTRIDER_LISTEN").map(|name| (name, "")));
    let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(said.contains("POSTRIDER_LISTEN: must be"), "{said}");
    assert!(!said.contains("no such setting"), "{said}");
}

/// The plain texts of a file, keys and values alike, in order.
fn scalars(text: &str) -> Vec<String> {
    let scalar = |event: Event<'_>| match event {
        Event::Scalar(text, ..) => Some(text.into_owned()),
        _ => None,
    };
    let events = Parser::new_from_str(text).map(|event| event.expect("it is YAML").0);
    events.filter_map(scalar).collect()
}

/// The text that follows a key.
fn value_of<'a>(scalars: &'a [String], key: &str) -> &'a str {
    let at = scalars.iter().position(|scalar| scalar == key).unwrap_or_else(|| panic!("no {key}"));
    &scalars[at + 1]
}

#[test]
fn the_files_of_containers_hold_together() {
    let compose = scalars(&read("compose.yaml"));
    for node in ["node-1", "node-2", "node-3"] {
        assert!(compose.iter().filter(|scalar| *scalar == node).count() >= 2, "{node} is there and named");
    }
    let grace: u64 = value_of(&compose, "POSTRIDER_GRACE_SECONDS").parse().unwrap();
    let stop: u64 = value_of(&compose, "stop_grace_period").trim_end_matches('s').parse().unwrap();
    assert!(stop > grace, "it is killed before its attempts may end");
    let image = read("Dockerfile");
    assert!(image.contains("distroless/cc-debian12:nonroot") && image.contains("STOPSIGNAL SIGTERM"));
}

/// A node whose port is of this machine says so in its ingest URLs.
#[test]
fn every_node_of_the_compose_file_knows_where_it_is_reached() {
    let [compose] = yaml::documents(&read("compose.yaml")).try_into().unwrap();
    for node in ["node-1", "node-2", "node-3"] {
        let node = &compose["services"][node];
        let published = node["ports"][0].as_str().unwrap().strip_suffix(":8080").unwrap();
        assert_eq!(node["environment"]["POSTRIDER_PUBLIC_URL"], format!("http://{published}"), "{node}");
    }
}

#[test]
fn an_image_is_built_of_the_source_alone() {
    assert!(read("Dockerfile").contains("COPY . ."), "all that is not left out is taken");
    let left_out = std::fs::read_to_string(path("../.dockerignore")).unwrap();
    let left_out: Vec<&str> = left_out.lines().map(str::trim).collect();
    for wanted in ["**/target/", "**/postrider-data/", ".git/"] {
        assert!(left_out.contains(&wanted), "{wanted} goes into the image's build: {left_out:?}");
    }
    // What the build needs is there.
    for needed in ["Cargo.toml", "Cargo.lock", "crates", "bench", "torture", "docs"] {
        let is_left_out = |line: &&str| line.trim_matches(['*', '/']).trim_start_matches('/') == needed;
        assert!(path("..").join(needed).exists() && !left_out.iter().any(is_left_out), "{needed}");
    }
}

#[test]
fn the_unit_is_one() {
    let unit = read("postrider.service");
    for wanted in [
        "ExecStart=/usr/bin/postrider serve --config /etc/postrider/postrider.toml",
        "ExecReload=/bin/kill -HUP $MAINPID",
        "ProtectSystem=strict",
        "NoNewPrivileges=yes",
        "TimeoutStopSec=45",
    ] {
        assert!(unit.lines().any(|line| line == wanted), "{wanted}");
    }
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("postrider.service");
    // The program need not be installed where this runs.
    std::fs::write(&file, unit.replace("/usr/bin/postrider", env!("CARGO_BIN_EXE_postrider"))).unwrap();
    let Ok(verified) = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&file).output()
    else {
        // A machine without systemd has no say in it.
        return;
    };
    let said = String::from_utf8_lossy(&verified.stderr);
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("postrider.service")).collect();
    assert!(ours.is_empty(), "{ours:?}");
}
