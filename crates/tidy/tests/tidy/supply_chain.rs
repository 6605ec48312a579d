//! What is linked into the binary, as Cargo resolves it, keeps to `deny.toml`: licences, bans by layer, duplicates that
//! are argued for. The same lists as cargo-deny reads, for machines that do not have it.

use super::licence::is_allowed;
use super::{Finding, tree};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use toml::Table;

/// One version of a crate, with those that depend on it.
struct Package {
    name: String,
    version: String,
    licence: String,
    named_by: BTreeSet<String>,
}

fn packages(metadata: &Value) -> Vec<Package> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let all = list(&metadata["packages"]);
    let names: BTreeMap<String, String> =
        all.iter().map(|package| (text(&package["id"]), text(&package["name"]))).collect();
    let mut named_by: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        for needed in list(&node["dependencies"]) {
            named_by.entry(text(&needed)).or_default().insert(names[&text(&node["id"])].clone());
        }
    }
    let package = |package: &Value| Package {
        name: text(&package["name"]),
        version: text(&package["version"]),
        licence: text(&package["license"]),
        named_by: named_by.get(&text(&package["id"])).cloned().unwrap_or_default(),
    };
    all.iter().map(package).collect()
}

fn check(rules: &Table, packages: &[Package]) -> Vec<Finding> {
    let mut findings = unlicensed(rules, packages);
    findings.extend(banned(rules, packages));
    findings.extend(doubled(rules, packages));
    findings
}

fn unlicensed(rules: &Table, packages: &[Package]) -> Vec<Finding> {
    let allowed = texts(&rules["licenses"]["allow"]);
    let bad = packages.iter().filter(|package| !is_allowed(&package.licence, &allowed));
    bad.map(|package| format!("{}: {:?} is no licence of deny.toml", package.name, package.licence)).collect()
}

fn banned(rules: &Table, packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, rule) in entries(rules, "deny") {
        let wrappers = rule.get("wrappers").map(texts).unwrap_or_default();
        for package in packages.iter().filter(|package| package.name == name) {
            let is_wrapped = |by: &&String| !wrappers.contains(&by.as_str());
            findings.extend(
                package
                    .named_by
                    .iter()
                    .filter(is_wrapped)
                    .map(|by| format!("{by} must not depend on {name}")),
            );
        }
    }
    findings
}

/// Of two versions all but the newest must be on the list, and nothing else may be.
fn doubled(rules: &Table, packages: &[Package]) -> Vec<Finding> {
    let skipped: BTreeSet<String> = entries(rules, "skip").into_iter().map(|(name, _)| name).collect();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().push(&package.version);
    }
    let mut older = BTreeSet::new();
    for (name, mut found) in versions {
        found.sort_by_key(|version| numbers(version));
        found.pop();
        older.extend(found.into_iter().map(|version| (format!("{name}@"), version.to_owned())));
    }
    let is_skipped = |(name, version): &&(String, String)| {
        !skipped
            .iter()
            .any(|skip| skip.strip_prefix(name.as_str()).is_some_and(|line| is_of_line(version, line)))
    };
    let more = older
        .iter()
        .filter(is_skipped)
        .map(|(name, version)| format!("{name}{version} stands beside a newer one"));
    let is_stale = |skip: &&String| {
        let (name, line) = skip.split_once('@').unwrap_or((skip, ""));
        !older.iter().any(|(known, version)| known.trim_end_matches('@') == name && is_of_line(version, line))
    };
    let stale = skipped.iter().filter(is_stale).map(|skip| format!("deny.toml: {skip} is there no more"));
    more.chain(stale).collect()
}

fn is_of_line(version: &str, line: &str) -> bool {
    version == line || version.strip_prefix(line).is_some_and(|rest| rest.starts_with('.'))
}

fn numbers(version: &str) -> Vec<u64> {
    let core = version.split(['+', '-']).next().unwrap_or_default();
    core.split('.').map(|part| part.parse().unwrap_or_default()).collect()
}

/// The entries of a list of bans by the crate that they name; each must have a reason.
fn entries(rules: &Table, list: &str) -> Vec<(String, Table)> {
    let entries = rules["bans"][list].as_array().expect("a list of tables");
    let named = entries.iter().map(|entry| {
        let entry = entry.as_table().expect("a table").clone();
        assert!(entry.get("reason").is_some_and(toml::Value::is_str), "{entry}: has no reason");
        (entry["crate"].as_str().expect("a crate has a name").to_owned(), entry)
    });
    named.collect()
}

fn texts(list: &toml::Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|item| item.as_str().expect("of texts")).collect()
}

fn rules() -> Table {
    let file =
        tree::repository().iter().find(|source| source.path == "deny.toml").expect("there is a deny.toml");
    file.text.parse().expect("it is TOML")
}

/// From the lock file alone, for this platform: what others need was never fetched, and there may be no network.
fn metadata() -> Value {
    let host = said_by("RUSTC", "rustc", &["-vV"]);
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).expect("a compiler has a platform");
    let wanted = ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host];
    serde_json::from_str(&said_by("CARGO", "cargo", &wanted)).expect("cargo answers in JSON")
}

/// Leaves those that are compiled, as cargo-deny does. The metadata also names what a crate would get by a feature of
/// something optional that nobody asks for.
fn compiled(packages: Vec<Package>) -> Vec<Package> {
    let wanted = ["tree", "--workspace", "--locked", "--offline", "--prefix", "none", "--format", "{p}"];
    let said = said_by("CARGO", "cargo", &wanted);
    let name = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let names: BTreeSet<String> = said.lines().map(name).collect();
    let is_compiled = |package: &Package| names.contains(&format!("{} v{}", package.name, package.version));
    packages.into_iter().filter(is_compiled).collect()
}

/// What a tool prints; Cargo names the one that it runs the tests with.
fn said_by(variable: &str, tool: &str, args: &[&str]) -> String {
    let mut command = Command::new(std::env::var_os(variable).unwrap_or_else(|| tool.into()));
    let ran =
        command.args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("it compiled these tests");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("it speaks UTF-8")
}

#[test]
fn dependencies_keep_to_the_lists() {
    let findings = check(&rules(), &compiled(packages(&metadata())));
    assert!(findings.is_empty(), "{} to put right:\n{}", findings.len(), findings.join("\n"));
}

#[test]
fn a_dependency_that_is_on_no_list_is_found() {
    let rules = "[licenses]\nallow = [\"MIT\"]\n[bans]\n\
        deny = [{crate = \"db\", wrappers = [\"store\"], reason = \"\"}]\n\
        skip = [{crate = \"a@0.1\", reason = \"\"}, {crate = \"gone@1\", reason = \"\"}]\n";
    let package = |name: &str, version: &str, licence: &str, by: &[&str]| Package {
        name: name.to_owned(),
        version: version.to_owned(),
        licence: licence.to_owned(),
        named_by: by.iter().map(|name| (*name).to_owned()).collect(),
    };
    let packages = [
        package("db", "1.0.0", "MIT", &["store", "core"]),
        package("a", "0.1.9", "MIT", &[]),
        package("a", "0.2.0", "GPL-3.0", &[]),
        package("b", "1.9.0", "MIT", &[]),
        package("b", "1.10.0", "MIT", &[]),
    ];
    let expected = [
        "a: \"GPL-3.0\" is no licence of deny.toml",
        "core must not depend on db",
        "b@1.9.0 stands beside a newer one",
        "deny.toml: gone@1 is there no more",
    ];
    assert_eq!(check(&rules.parse().unwrap(), &packages), expected);
}
