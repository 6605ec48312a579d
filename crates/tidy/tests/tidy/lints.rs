//! Every crate takes the lints of the workspace, where unsafe code is forbidden: no crate can bring it in by leaving
//! them out.

use super::tree::Source;
use super::{Finding, check_planted, check_repository, finding};
use toml::{Table, Value};

/// Needs a nightly compiler and is not shipped, so it stands outside of the workspace.
const OUTSIDE: &str = "fuzz/Cargo.toml";

fn check(files: &[Source]) -> Vec<Finding> {
    let manifests =
        files.iter().filter(|source| source.path.ends_with("Cargo.toml") && source.path != OUTSIDE);
    manifests.filter_map(check_manifest).collect()
}

fn check_manifest(source: &Source) -> Option<Finding> {
    let manifest = source.text.parse::<Table>().ok()?;
    let (forbids, takes) = (lint(&manifest), manifest.get("lints").and_then(|lints| lints.get("workspace")));
    let what = match manifest.get("workspace") {
        Some(_) if forbids != Some("forbid") => "forbid unsafe_code for all crates",
        None if takes.and_then(Value::as_bool) != Some(true) => "take the lints of the workspace",
        _ => return None,
    };
    Some(finding(source, 1, what))
}

fn lint(manifest: &Table) -> Option<&str> {
    manifest.get("workspace")?.get("lints")?.get("rust")?.get("unsafe_code")?.as_str()
}

#[test]
fn no_crate_may_have_unsafe_code() {
    check_repository(check);
}

#[test]
fn a_crate_that_could_is_found() {
    check_planted(check, "crates/a/Cargo.toml", "[package]\nname = \"a\"\n[lints]\nworkspace = true\n", &[]);
    check_planted(check, "crates/a/Cargo.toml", "[package]\nname = \"a\"\n", &[1]);
    check_planted(check, "crates/a/Cargo.toml", "[package]\n[lints.rust]\nunsafe_code = \"allow\"\n", &[1]);
    check_planted(check, "Cargo.toml", "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n", &[]);
    check_planted(check, "Cargo.toml", "[workspace.lints.rust]\nunsafe_code = \"deny\"\n", &[1]);
    check_planted(check, "Cargo.toml", "[workspace]\n", &[1]);
}
