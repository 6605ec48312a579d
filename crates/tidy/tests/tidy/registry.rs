//! Packages come from where everybody gets them: no mirror of one workplace is named.

use super::tree::Source;
use super::{Finding, check_planted, check_repository, finding};

/// What Cargo writes for the public registry.
const PUBLIC: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Settings that lead Cargo elsewhere; in TOML only, since code may have registries of its own.
const SETTINGS: &[&str] = &["replace-with", "[registries", "registry = ", "sparse+http"];

/// Parts of the names of hosts that hand out packages.
const HOSTS: &[&str] = &["registry", "artifactory", "nexus", "mirror", "pypi", "goproxy"];

fn check(files: &[Source]) -> Vec<Finding> {
    files.iter().flat_map(check_file).collect()
}

fn check_file(source: &Source) -> Vec<Finding> {
    let foreign = |(line, text): (usize, &str)| {
        let what = foreign(source, text)?;
        Some(finding(source, line, &format!("`{what}` leads to another registry")))
    };
    source.lines().filter_map(foreign).collect()
}

fn foreign<'a>(source: &Source, text: &'a str) -> Option<&'a str> {
    if source.path.ends_with("Cargo.lock") {
        let from = text.strip_prefix("source = \"")?.trim_end_matches('"');
        return (from != PUBLIC).then_some(from);
    }
    // That of cargo-deny, which refuses them.
    let is_rule = text.starts_with("unknown-registry = ");
    let is_set = |setting: &&&str| source.has_extension("toml") && !is_rule && text.contains(**setting);
    let setting = SETTINGS.iter().find(is_set).copied();
    let is_registry = |host: &&str| HOSTS.iter().any(|part| host.contains(part));
    setting.or_else(|| hosts(text).find(is_registry))
}

fn hosts(text: &str) -> impl Iterator<Item = &str> {
    let ends_host = |character: char| !(character.is_alphanumeric() || ".-".contains(character));
    text.split("://").skip(1).filter_map(move |after| after.split(ends_host).next())
}

#[test]
fn packages_come_from_the_public_registry() {
    check_repository(check);
}

#[test]
fn another_registry_is_found() {
    let lock = format!("[[package]]\nsource = \"{PUBLIC}\"\nsource = \"git+https://example.com/a\"\n");
    check_planted(check, "Cargo.lock", &lock, &[3]);
    for setting in SETTINGS {
        check_planted(check, ".cargo/config.toml", &format!("\n{setting}\n"), &[2]);
        check_planted(check, "src/a.rs", &format!("\n{setting}\n"), &[]);
    }
    for host in HOSTS {
        check_planted(check, "docs/a.md", &format!("from <https://{host}.example.com/a>\n"), &[1]);
        check_planted(check, "docs/a.md", &format!("from <https://example.com/{host}>\n"), &[]);
    }
}
