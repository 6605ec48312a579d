//! `postrider bench --database-url`: runs to its end with few events and leaves nothing behind. What it measures then
//! means nothing.

use postrider_postgres::testing::Server;
use serde_json::Value;
use std::process::Command;

#[test]
fn the_database_is_measured_beside_the_textbook_and_left_as_it_was() {
    let server = Server::shared();
    let url = server.database();
    let output = Command::new(env!("CARGO_BIN_EXE_postrider"))
        .args(["bench", "--database-url", &url, "--json", "-", "--events", "2000", "--textbook-events", "60"])
        .args(["--workers", "3", "--nodes", "1,2", "--cold", "20", "--batch", "100"])
        .args(["--pending", "2300", "--finished", "3001", "--rate-seconds", "1"])
        .output()
        .expect("the binary was built with this test");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON alone on the standard output");
    let measured = &report["comparisons"][0];
    let figures = measured["figures"].as_array().expect("a list of figures");
    assert_eq!(figures.len(), 6, "{measured}");
    for figure in figures {
        assert!(figure["without"].as_f64().is_some_and(|lives| lives > 0.0), "{figure}");
        assert!(figure["with"].as_f64().is_some(), "the server is on this machine: {figure}");
    }
    assert_eq!(measured["goals"].as_array().map(Vec::len), Some(4), "{measured}");
    let bytes = &report["comparisons"][1];
    assert_eq!(
        (&bytes["scenario"], bytes["figures"].as_array().map(Vec::len)),
        (&"database-bytes".into(), Some(6))
    );
    for figure in bytes["figures"].as_array().expect("a list of figures") {
        let [log, tables] = ["without", "with"].map(|column| figure[column].as_f64().unwrap_or_default());
        assert!(log > 1024.0 && tables > 1024.0, "a body is in both: {figure}");
    }
    let passed_on = &report["comparisons"][2];
    assert_eq!(passed_on["scenario"], "passing-on", "{passed_on}");
    for figure in passed_on["figures"].as_array().expect("a list of figures") {
        let [owner, other] = ["without", "with"].map(|column| figure[column].as_f64().unwrap_or_default());
        assert!(owner > 0.0 && other > 0.0, "{figure}");
    }
    let left = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'postrider_bench%'";
    assert_eq!(server.ask(&url, left), "0");
}
