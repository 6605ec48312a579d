//! Settings of the scheduler that cannot be: one clear sentence each, and no start.

use crate::rig::Site;

/// A start with these flags must end with code 1 and a line that names the first of them and says this.
fn check(args: &[&str], said: &str) {
    let site = Site::closed().with(args);
    let ended = site.refused();
    assert_eq!(ended.code, Some(1), "{args:?}: {}", ended.err);
    let flag = args[args.len() - 1].split('=').next().unwrap();
    let lines: Vec<&str> = ended.err.lines().filter(|line| line.trim().starts_with(flag)).collect();
    assert_eq!(lines.len(), 1, "{args:?}: one line that names it:\n{}", ended.err);
    assert!(lines[0].contains(said), "{args:?}: {said:?} is not in {}", lines[0]);
    assert!(!ended.err.contains("panicked"), "{}", ended.err);
    assert!(!site.data_dir().exists(), "{args:?}: nothing was begun");
}

#[test]
fn bad_floors_are_refused() {
    check(&["--slots=10", "--priority-floors=5,5,5,5"], "more than the 10 slots together, not 20");
    check(&["--slots=10", "--priority-floors=5,5,0,0"], "must leave one of the 10 slots to the priorities");
    check(&["--priority-floors=500,5,5,5"], "more than the 512 slots together, not 515");
    check(&["--priority-floors=4294967295,4294967295,4294967295,4294967295"], "more than the 512 slots");
    for value in
        ["", "1", "1,2,3", "1,2,3,4,5", "1,2,3,x", "1,2,3,-4", "1;2;3;4", "1.5,1,1,1", "99999999999,1,1,1"]
    {
        check(&[&format!("--priority-floors={value}")], "must be four numbers of slots, critical first");
    }
}

#[test]
fn a_bad_promotion_age_is_refused() {
    for value in ["", "soon", "-1", "1.5", "30m", "inf", "2592001", "99999999999999999999999"] {
        check(&[&format!("--promotion-age-seconds={value}")], "a whole number from 0 to 2592000");
    }
}

#[test]
fn bad_limits_of_the_backlog_are_refused() {
    for value in ["", "0", "-5", "many", "1e6", "99999999999999999999999"] {
        check(&[&format!("--backlog-max-rows={value}")], "a whole number from 1");
    }
    for value in ["", "0", "-5", "10 parsecs", "MiB", "99999999999TiB"] {
        check(&[&format!("--backlog-max-bytes={value}")], "a size such as 64MiB");
    }
    for value in ["0", "-1", "6h", "2592001"] {
        check(&[&format!("--backlog-max-age={value}")], "a whole number from 1 to 2592000");
    }
    for value in ["0", "9", "600001", "1s"] {
        check(&[&format!("--commit-max-ms={value}")], "a whole number from 10 to 600000");
    }
}

#[test]
fn bad_slots_are_refused() {
    for value in ["0", "-1", "16385", "all"] {
        check(&[&format!("--slots={value}")], "a whole number from 1 to 16384");
    }
}

#[test]
fn the_same_is_said_of_the_environment_and_the_file() {
    for site in [
        Site::closed().variable("POSTRIDER_PRIORITY_FLOORS", "1,2"),
        Site::closed().config("priority_floors = \"1,2\""),
    ] {
        let ended = site.refused();
        assert_eq!(ended.code, Some(1), "{}", ended.err);
        assert!(ended.err.contains("must be four numbers of slots"), "{}", ended.err);
    }
}

#[test]
fn settings_at_their_edges_are_taken() {
    let site = Site::closed()
        .with(&["--slots", "10", "--priority-floors", "4, 3,2,1", "--promotion-age-seconds", "0"])
        .with(&["--backlog-max-rows", "1", "--backlog-max-bytes", "1", "--backlog-max-age", "1"])
        .with(&["--commit-max-ms", "10"]);
    site.start().api().get("/v1/destinations").data(200);
}
