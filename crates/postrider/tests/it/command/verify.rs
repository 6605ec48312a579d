//! `verify` of a database. That of a data directory is beside `backup`, which uses it.

use super::backup::{check, fill, run};
use crate::rig::{Api, Sink, Site};
use postrider_postgres::testing::Server;
use serde_json::json;
use std::process::Command;

const ADMIN_KEY: &str = "hk_0123456789abcdefghjkmnpq";
/// More than are walked at once.
const EVENTS: usize = 450;

#[test]
fn a_database_is_proved_whole_while_a_node_runs_and_what_is_lost_or_made_up_is_found() {
    let (server, sink) = (Server::shared(), Sink::start());
    let database = server.database();
    let site = Site::new().with(&["--database-url", &database]).variable("POSTRIDER_ADMIN_KEY", ADMIN_KEY);
    let gateway = site.start();
    fill(&Api { address: site.address(), key: ADMIN_KEY.to_owned() }, &sink, EVENTS);
    let verify = ["verify", "--database-url", &database];
    check(&run(&site, &[&verify[..], &["--json"]].concat()).json(0), EVENTS as u64);
    gateway.kill();
    let said = run(&site, &verify);
    let expected = "450 delivered, 450 dead letters, 450 pending\norphans = 0, strays = 0\n";
    assert!(said.out(0).ends_with(expected), "{said:?}");
    assert_eq!(said.err, "");

    let lost = server.ask(
        &database,
        "DELETE FROM queue WHERE delivery_id = (SELECT min(delivery_id) FROM queue) RETURNING delivery_id",
    );
    assert!(!lost.trim().is_empty());
    let found = run(&site, &verify);
    assert!(found.err().contains("1 delivery lost, 0 stray queue rows"), "{found:?}");
    assert!(found.out.contains("is neither delivered nor pending nor a dead letter"), "{found:?}");
    // Of events that were never there, before all others and behind them.
    let made_up = "UPDATE queue SET event_id = 1 WHERE delivery_id = (SELECT min(delivery_id) FROM queue);
         UPDATE queue SET event_id = event_id + (1::int8 << 40) WHERE delivery_id = (SELECT max(delivery_id) FROM queue)";
    server.ask(&database, made_up);
    let found = run(&site, &[&verify[..], &["--json"]].concat()).json(1);
    assert_eq!((&found["orphans"], &found["strays"]), (&json!(3), &json!(2)), "{found}");
    assert_eq!(found["orphaned"].as_array().map(Vec::len), Some(3), "{found}");
}

#[test]
fn a_database_is_named_by_a_variable_too_and_one_without_a_store_is_refused() {
    let (site, database) = (Site::new(), Server::shared().database());
    let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
    command.env_clear().env("POSTRIDER_DATABASE_URL", &database).current_dir(site.path());
    let empty = command.arg("verify").output().unwrap();
    let said = String::from_utf8(empty.stderr).unwrap();
    assert!(empty.status.code() == Some(1) && said.contains("no store of Postrider in it"), "{said}");
    let wrong = run(&site, &["verify", "--database-url", "mysql://u:hunter2@h/d"]);
    assert!(wrong.err().contains("--database-url must be a URL such as postgres://"), "{wrong:?}");
    assert!(!wrong.err.contains("hunter2"), "{wrong:?}");
}
