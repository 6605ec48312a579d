//! The layers: which crate may name which, read from their manifests.
//!
//! A crate that is not in the table fails: where it stands is a decision to be written down.

use super::tree::Source;
use super::{Finding, check_planted, check_repository, finding};
use toml::{Table, Value};

struct Layer {
    crate_name: &'static str,
    /// The crates of this repository that it may depend on.
    may_name: &'static [&'static str],
    others: Others,
}

/// What a layer may depend on outside this repository.
enum Others {
    Any,
    /// Nothing that knows a database or serves HTTP by routes.
    NoDatabaseNoServer,
    /// Only these, except in tests.
    Only(&'static [&'static str]),
}

const CORE: &str = "postrider-core";
const STORE: &str = "postrider-store";
const POSTGRES: &str = "postrider-postgres";
/// `postrider` itself stands on top and names whom it likes; `bench` looks at it from outside and names nobody.
const LAYERS: &[Layer] = &[
    Layer { crate_name: CORE, may_name: &[], others: Others::Only(&[]) },
    Layer { crate_name: STORE, may_name: &[CORE], others: Others::NoDatabaseNoServer },
    Layer { crate_name: "postrider-sqlite", may_name: &[CORE, STORE], others: Others::Any },
    // Itself, for its tests: that is how they switch on its throw-away server.
    Layer { crate_name: POSTGRES, may_name: &[CORE, STORE, POSTGRES], others: Others::Any },
    Layer { crate_name: "postrider-engine", may_name: &[CORE, STORE], others: Others::NoDatabaseNoServer },
    Layer { crate_name: "postrider-sim", may_name: &[CORE, STORE], others: Others::NoDatabaseNoServer },
    Layer { crate_name: "postrider-bench", may_name: &[], others: Others::Any },
    // It starts the binary and looks at it from outside; the throw-away server is the store's.
    Layer { crate_name: "postrider-torture", may_name: &[POSTGRES], others: Others::Any },
    Layer { crate_name: "postrider-docs", may_name: &[], others: Others::NoDatabaseNoServer },
    Layer { crate_name: "postrider-tidy", may_name: &[], others: Others::NoDatabaseNoServer },
    Layer { crate_name: "postrider-fuzz", may_name: &[CORE, STORE, "postrider-engine"], others: Others::Any },
];
const TOP: &str = "postrider";

/// Parts of names, so that `tokio-postgres`, `deadpool-postgres` and `libsqlite3-sys` are meant too.
const DATABASES_AND_SERVERS: &[&str] =
    &["sqlite", "postgres", "refinery", "deadpool", "sqlx", "diesel", "axum", "actix", "tower-http"];

const IN_PRODUCTION: &[&str] = &["dependencies", "build-dependencies"];
const IN_TESTS: &[&str] = &["dev-dependencies"];

fn check(files: &[Source]) -> Vec<Finding> {
    let manifests = files.iter().filter(|source| source.path.ends_with("Cargo.toml"));
    manifests.flat_map(check_manifest).collect()
}

fn check_manifest(source: &Source) -> Vec<Finding> {
    let Ok(manifest) = source.text.parse::<Table>() else {
        return vec![finding(source, 1, "is not TOML")];
    };
    let Some(name) = manifest.get("package").and_then(|package| package.get("name")?.as_str()) else {
        return vec![];
    };
    if name == TOP {
        return vec![];
    }
    let Some(layer) = LAYERS.iter().find(|layer| layer.crate_name == name) else {
        return vec![finding(source, 1, &format!("{name} has no place in the table of layers"))];
    };
    let shipped = dependencies(&manifest, IN_PRODUCTION).into_iter().filter(|named| !layer.allows(named));
    let tested = dependencies(&manifest, IN_TESTS).into_iter().filter(|named| !layer.allows_in_tests(named));
    let refusal = |named: String| finding(source, 1, &format!("{name} must not depend on {named}"));
    shipped.chain(tested).map(refusal).collect()
}

impl Layer {
    fn allows(&self, named: &str) -> bool {
        match &self.others {
            Others::Only(only) if !is_ours(named) => only.contains(&named),
            _ => self.allows_in_tests(named),
        }
    }

    fn allows_in_tests(&self, named: &str) -> bool {
        if is_ours(named) {
            return self.may_name.contains(&named);
        }
        matches!(self.others, Others::Any) || !DATABASES_AND_SERVERS.iter().any(|part| named.contains(part))
    }
}

fn is_ours(named: &str) -> bool {
    named == TOP || named.starts_with("postrider-")
}

/// What the tables of these names ask for, those for one platform too.
fn dependencies(manifest: &Table, tables: &[&str]) -> Vec<String> {
    let platforms = manifest.get("target").and_then(Value::as_table);
    let platforms = platforms.into_iter().flat_map(|table| table.values().filter_map(Value::as_table));
    let scopes = std::iter::once(manifest).chain(platforms);
    let asked = scopes.flat_map(|scope| tables.iter().filter_map(|name| scope.get(*name)?.as_table()));
    asked.flatten().map(|(key, value)| package_name(key, value)).collect()
}

/// A dependency may go by another name here than where it is published.
fn package_name(key: &str, value: &Value) -> String {
    value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned()
}

#[test]
fn every_crate_keeps_to_its_layer() {
    check_repository(check);
}

#[test]
fn a_dependency_across_the_layers_is_found() {
    let check = |name: &str, tables: &str, found: usize| {
        let manifest = format!("[package]\nname = \"{name}\"\n{tables}");
        check_planted(check, "crates/a/Cargo.toml", &manifest, &vec![1; found]);
    };
    check("postrider-core", "[dependencies]\n", 0);
    check("postrider-core", "[dependencies]\nserde = \"1\"\n", 1);
    check("postrider-core", "[build-dependencies]\ncc = \"1\"\n", 1);
    check("postrider-core", "[dev-dependencies]\nproptest = \"1\"\n", 0);
    check("postrider-core", "[dev-dependencies]\npostrider-store = \"1\"\nrusqlite = \"1\"\n", 2);
    check("postrider-store", "[dependencies]\npostrider-core.path = \"../core\"\nbytes = \"1\"\n", 0);
    check("postrider-store", "[dependencies]\npostrider-engine = \"1\"\npostrider-sqlite = \"1\"\n", 2);
    check("postrider-engine", "[dependencies.rusqlite]\nversion = \"1\"\n", 1);
    check("postrider-engine", "[dependencies]\ntokio-postgres = \"1\"\naxum = \"1\"\nhyper = \"1\"\n", 2);
    check(
        "postrider-engine",
        "[dependencies]\ndb = { package = \"postrider-sqlite\", version = \"1\" }\n",
        1,
    );
    check("postrider-engine", "[target.'cfg(unix)'.dependencies]\nrusqlite = \"1\"\n", 1);
    check("postrider-sqlite", "[dependencies]\nrusqlite = \"1\"\n", 0);
    check("postrider-sqlite", "[dev-dependencies]\npostrider-engine = \"1\"\n", 1);
    check("postrider", "[dependencies]\npostrider-sqlite = \"1\"\naxum = \"1\"\n", 0);
    check("postrider-new", "", 1);
    check("postrider-core", "[dependencies", 1);
}
