//! The bill of materials that `scripts/sbom` prints.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

#[test]
fn the_bill_of_materials_names_what_is_shipped_and_nothing_else() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let ran = Command::new(root.join("scripts/sbom")).env("CARGO_NET_OFFLINE", "true").output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let bill: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&Value::from("CycloneDX"), &Value::from("1.5")));
    assert_eq!(bill["metadata"]["component"]["name"], "postrider");
    let components = bill["components"].as_array().unwrap();
    let names: BTreeSet<&str> = components.iter().filter_map(|one| one["name"].as_str()).collect();
    for shipped in ["tokio", "rusqlite", "libsqlite3-sys", "rustls", "postrider-core"] {
        assert!(names.contains(shipped), "{shipped} is missing");
    }
    for test_only in ["proptest", "criterion", "rcgen", "standardwebhooks", "postrider-sim", "windows-sys"] {
        assert!(!names.contains(test_only), "{test_only} is not shipped");
    }
    let known: BTreeSet<&str> =
        bill["dependencies"].as_array().unwrap().iter().filter_map(|one| one["ref"].as_str()).collect();
    assert_eq!(known.len(), components.len() + 1, "each is there once, and the binary");
    check_bundled(&bill, "sqlite", rusqlite::version(), "pkg:cargo/libsqlite3-sys@");
    check_bundled(&bill, "mimalloc", "3.", "pkg:cargo/libmimalloc-sys@");
    for one in components {
        assert!(one["licenses"][0]["expression"].is_string(), "{} has no licence", one["name"]);
        assert!(known.contains(one["purl"].as_str().unwrap()), "{} stands alone", one["name"]);
    }
}

/// A library in C is named with its version, as known holes are, and stands behind the crate that brings it along.
fn check_bundled(bill: &Value, name: &str, version: &str, brought_by: &str) {
    let listed = |list: &str| bill[list].as_array().unwrap().clone();
    let found = listed("components").into_iter().find(|one| one["name"] == name && one["cpe"].is_string());
    let found = found.unwrap_or_else(|| panic!("{name} is missing"));
    let said = found["version"].as_str().unwrap();
    assert!(said.starts_with(version) && said.split('.').count() == 3, "{name} is {said}, not {version}");
    assert!(found["cpe"].as_str().unwrap().contains(&format!(":{name}:{said}:")), "{found}");
    let brings =
        listed("dependencies").into_iter().find(|one| one["ref"].as_str().unwrap().starts_with(brought_by));
    assert!(brings.unwrap()["dependsOn"].as_array().unwrap().contains(&found["purl"]), "{name} stands alone");
}
