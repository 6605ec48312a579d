//! A database that cannot be used is told in one sentence, with what to do, at start.

use super::sharing;
use crate::rig::Site;
use postrider_postgres::testing::Server;

/// What waiting would not mend is refused however long a start may wait.
fn check_refused(url: &str, said: &[&str]) {
    check_refused_after("3600", url, said);
}

fn check_refused_after(wait_seconds: &str, url: &str, said: &[&str]) {
    let wait = ["--database-url", url, "--database-wait-seconds", wait_seconds];
    let ended = Site::new().with(&wait).refused();
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    for part in said {
        assert!(ended.err.contains(part), "{part:?} is not in\n{}", ended.err);
    }
    assert!(!ended.err.contains("hunter2") && !ended.err.contains("panicked"), "{}", ended.err);
}

fn site_of(url: &str) -> Site {
    sharing(Site::new(), url)
}

#[test]
fn a_url_that_leads_nowhere_is_refused() {
    check_refused("mysql://u:hunter2@localhost/d", &["--database-url", "postgres://"]);
    let gone = "postgres://u:hunter2@127.0.0.1:1/d";
    check_refused_after("0", gone, &["cannot connect", "refused"]);
    check_refused_after("1", gone, &["cannot connect", "refused", "gave up after the 1 seconds"]);
}

#[test]
fn a_role_or_a_database_that_is_not_there_is_refused() {
    let url = Server::shared().database();
    check_refused(&url.replace("postrider@", "nobody:hunter2@"), &["cannot connect", "\"nobody\""]);
    check_refused(&url.replace("/test_", "/nothing_"), &["cannot connect", "does not exist"]);
}

#[test]
fn a_database_of_a_later_version_is_refused() {
    let server = Server::shared();
    let newer = server.database();
    site_of(&newer).start().stop();
    server.ask(&newer, "INSERT INTO refinery_schema_history SELECT 999, 'later', applied_on, checksum FROM refinery_schema_history LIMIT 1");
    check_refused(&newer, &["later version"]);
}

#[test]
fn a_node_with_another_key_is_refused() {
    let url = Server::shared().database();
    let with_key = |key: &str| site_of(&url).variable("POSTRIDER_SECRET_KEY", key);
    with_key("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").start().stop();
    let ended = with_key("//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=").refused();
    assert!(ended.err.contains("sealed with another key"), "{}", ended.err);
}

#[test]
fn a_role_that_may_not_set_the_database_up_is_refused() {
    let server = Server::shared();
    let denied = server.database();
    server.ask(&denied, "CREATE ROLE guest LOGIN; REVOKE CREATE ON SCHEMA public FROM public");
    check_refused(&denied.replace("postrider@", "guest@"), &["\"guest\"", "GRANT"]);
}

#[test]
fn a_role_that_does_not_own_the_tables_is_refused_and_a_member_of_their_owner_is_not() {
    let server = Server::shared();
    let url = server.database();
    server.ask(
        &url,
        "CREATE ROLE house LOGIN; CREATE ROLE worker LOGIN; GRANT CREATE ON SCHEMA public TO house, worker",
    );
    site_of(&url.replace("postrider@", "house@")).start().stop();
    server.ask(&url, "GRANT ALL ON ALL TABLES IN SCHEMA public TO worker");
    let of_worker = url.replace("postrider@", "worker@");
    check_refused(&of_worker, &["\"worker\"", "connect as \"house\"", "GRANT"]);
    server.ask(&url, "GRANT house TO worker; DO 'DECLARE day text; BEGIN
         FOR day IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = ''events''::regclass
             AND inhrelid::regclass::text LIKE ''events_d%'' LOOP EXECUTE ''DROP TABLE '' || day; END LOOP; END'");
    site_of(&of_worker).start().stop();
    let owners =
        "SELECT string_agg(DISTINCT tableowner, ',') FROM pg_tables WHERE tablename LIKE 'events_d%'";
    assert_eq!(server.ask(&url, owners), "house", "whoever of its members made them");
}

#[test]
fn a_standby_is_refused() {
    let server = Server::alone();
    let url = server.database();
    server.stand_by();
    check_refused(&url, &["read-only standby", "the URL of the primary"]);
}
