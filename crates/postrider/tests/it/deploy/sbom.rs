//! The bill of materials that `scripts/sbom` prints.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

#[test]
fn the_bill_of_materials_names_what_is_shipped_and_nothing_else() {
    if Command::new("jq").arg("--version").output().is_err() {
        println!("there is no jq here");
        return;
    }
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
    for one in components {
        assert!(one["licenses"][0]["expression"].is_string(), "{} has no licence", one["name"]);
        assert!(known.contains(one["purl"].as_str().unwrap()), "{} stands alone", one["name"]);
    }
}
