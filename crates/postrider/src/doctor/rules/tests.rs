//! Each rule by itself: what makes it speak, and what leaves it silent.

mod alerts;

use super::*;
use crate::doctor::finding::Severity;
use crate::doctor::snapshot::{AccountSeen, DestinationSeen, LastAttempt, SettingsSeen, Slots, Waiting};

fn destination(pending: u64) -> DestinationSeen {
    DestinationSeen {
        id: "dst_1".into(),
        name: "billing".into(),
        pending,
        circuit: "closed".into(),
        waiting_for: "concurrency".into(),
        max_concurrency: 5,
        limit: 5,
        consecutive_failures: 7,
        settings: Some(SettingsSeen {
            timeout_seconds: 10,
            circuit_threshold: Some(10),
            ..SettingsSeen::default()
        }),
        ..DestinationSeen::default()
    }
}

fn failing(kind: &str, status: Option<u64>) -> Option<LastAttempt> {
    let error_message = format!("It failed by {kind}.");
    Some(LastAttempt { error_kind: kind.into(), error_message, status, latency_ms: 10_000.0 })
}

fn of(destinations: Vec<DestinationSeen>) -> Snapshot {
    let pending = destinations.iter().map(|found| found.pending).sum();
    Snapshot { pending, destinations, slots: one_node(0, 512), ..Snapshot::default() }
}

fn one_node(used: u64, total: u64) -> Option<Slots> {
    Some(Slots { used, total, nodes: 1, busiest: (used, total) })
}

fn acme() -> AccountSeen {
    AccountSeen { as_account: " --account acc_1".into(), ..AccountSeen::default() }
}

fn of_account(account: AccountSeen) -> Snapshot {
    Snapshot { accounts: vec![account], ..Snapshot::default() }
}

/// The codes that were found, with how bad each is.
fn codes(seen: &Snapshot) -> Vec<(&'static str, Severity)> {
    all(seen).iter().map(|finding| (finding.code, finding.severity)).collect()
}

/// The commands that the finding of this code names.
fn next(seen: &Snapshot, code: &str) -> String {
    all(seen).into_iter().find(|finding| finding.code == code).expect("it is found").next.join("\n")
}

#[test]
fn a_gateway_that_is_well_has_no_findings() {
    assert_eq!(codes(&of(vec![destination(3)])), []);
    assert_eq!(codes(&Snapshot::default()), []);
}

#[test]
fn what_is_refused_is_critical_and_told_by_its_code() {
    for (code, expected) in [
        ("disk_full", "disk_full"),
        ("store_unavailable", "store_unavailable"),
        ("overloaded", "overloaded"),
        ("store_slow", "store_slow"),
        ("no_lease", "no_lease"),
        ("broken", "broken"),
        ("stopping", "not_ready"),
    ] {
        let seen = Snapshot { not_ready: Some((code.into(), "It cannot.".into())), ..Snapshot::default() };
        assert_eq!(codes(&seen), [(expected, Severity::Critical)]);
        assert!(!next(&seen, expected).is_empty(), "{code} has no way out");
    }
}

#[test]
fn what_a_node_has_no_more_of_is_told_with_what_to_raise() {
    for (resource, severity, says, raises) in [
        ("file_descriptors", Severity::Critical, "too few file descriptors: 7 attempts", "LimitNOFILE"),
        ("local_ports", Severity::Critical, "too few local ports", "ip_local_port_range"),
        ("memory", Severity::Critical, "too few buffers in its kernel's memory", "tcp_mem"),
        ("threads", Severity::Critical, "too few threads", "TasksMax"),
        ("transformed_bodies", Severity::Warning, "too little memory for bodies", "in-flight-bytes-max"),
    ] {
        let seen = Snapshot { shortages: vec![(resource.into(), 7)], ..Snapshot::default() };
        assert_eq!(codes(&seen), [("node_resources", severity)]);
        assert!(all(&seen)[0].sentence.contains(says), "{}", all(&seen)[0].sentence);
        assert!(next(&seen, "node_resources").contains(raises), "{resource}");
    }
}

#[test]
fn a_clock_that_is_off_and_keys_that_end_are_told() {
    let seen = |clock_ahead_seconds| Snapshot { clock_ahead_seconds, ..Snapshot::default() };
    assert_eq!(codes(&seen(-61)), [("clock", Severity::Warning)]);
    assert_eq!(codes(&seen(60)), []);
    let ends = |seconds| of_account(AccountSeen { keys: vec![("ci".into(), seconds)], ..acme() });
    assert_eq!(codes(&ends(3600)), [("key_expires", Severity::Warning)]);
    assert_eq!(codes(&ends(5 * 24 * 3600)), [("key_expires", Severity::Note)]);
    assert_eq!(codes(&ends(8 * 24 * 3600)), []);
    assert_eq!(codes(&ends(-1)), [], "what has ended is found by whoever uses it");
    assert_eq!(all(&ends(3600))[0].sentence, "The key \"ci\" of acc_1 expires in 1 h.");
    assert!(next(&ends(3600), "key_expires").contains("keys create --account acc_1 "));
}

#[test]
fn certificates_that_end_soon_are_told_before_deliveries_fail() {
    let ends = |seconds| Snapshot { certificates: vec![(destination(0), seconds)], ..Snapshot::default() };
    let day = 24 * 3600;
    for (seconds, severity, says) in [
        (13 * day, Severity::Warning, "expires in 13 days"),
        (3 * day + 1, Severity::Warning, "expires in 3 days"),
        (3 * day - 1, Severity::Critical, "expires in 71 h"),
        (-1, Severity::Critical, "has expired"),
    ] {
        assert_eq!(codes(&ends(seconds)), [("certificate_expires", severity)]);
        let found = &all(&ends(seconds))[0];
        assert!(
            found.sentence.starts_with(&format!("The certificate of \"billing\" (dst_1) {says}")),
            "{found:?}"
        );
        assert!(found.next.iter().any(|command| command.contains("destinations test dst_1")), "{found:?}");
    }
}

#[test]
fn many_dead_letters_are_told() {
    let seen = |deaths_last_hour| of_account(AccountSeen { deaths_last_hour, ..acme() });
    assert_eq!(codes(&seen(10)), [("dead_letters", Severity::Warning)]);
    assert_eq!(codes(&seen(9)), [("dead_letters", Severity::Note)]);
    assert_eq!(codes(&seen(0)), []);
    let commands = next(&seen(10), "dead_letters");
    for verb in ["list", "replay"] {
        assert!(commands.contains(&format!("dlq {verb} --since 1h --account acc_1 ")), "{commands}");
    }
    let own = |deaths_last_hour| of_account(AccountSeen { deaths_last_hour, ..AccountSeen::default() });
    for (deaths, says) in
        [(1, "1 delivery was"), (12, "12 deliveries were"), (200, "200 deliveries or more were")]
    {
        assert_eq!(all(&own(deaths))[0].sentence, format!("{says} dead-lettered in the last hour."));
    }
    let many = Snapshot { accounts_unseen: 7, ..seen(0) };
    assert_eq!(codes(&many), [("accounts_unseen", Severity::Note)]);
    assert!(all(&many)[0].sentence.contains("the first 1 of 8 accounts"));
}

#[test]
fn events_that_no_route_took_are_told() {
    let seen = |unrouted_today| of_account(AccountSeen { unrouted_today, ..acme() });
    assert_eq!(codes(&seen(0)), []);
    for (count, says) in [
        (1, "1 event of acc_1 matched no route since"),
        (30_000, "30000 events of acc_1 matched no route since"),
    ] {
        assert_eq!(codes(&seen(count)), [("unrouted", Severity::Note)]);
        assert!(all(&seen(count))[0].sentence.starts_with(says), "{:?}", all(&seen(count)));
    }
    assert!(next(&seen(1), "unrouted").contains("events --status accepted --since 24h --account acc_1 "));
}

#[test]
fn a_disk_that_fills_and_a_store_that_is_slow_are_told_before_events_are_refused() {
    let disk = |free, reserve| Snapshot { disk: Some((free, reserve)), ..Snapshot::default() };
    assert_eq!(codes(&disk(199, 100)), [("disk_low", Severity::Warning)]);
    assert_eq!((codes(&disk(200, 100)), codes(&disk(100, 100))), (vec![], vec![]));
    let slow = |listing_ms| Snapshot { listing_ms, ..Snapshot::default() };
    assert_eq!((codes(&slow(1000)), codes(&slow(1001))), (vec![], vec![("store_slow", Severity::Warning)]));
    assert!(next(&slow(1001), "store_slow").contains("pg_stat_activity"));
    let embedded = Snapshot { is_embedded: true, ..slow(1001) };
    assert_eq!(codes(&embedded), [("store_slow", Severity::Warning)]);
    for code in ["store_slow", "store_unavailable"] {
        let not_ready = Some((code.into(), "It cannot.".into()));
        let commands = next(&Snapshot { not_ready, is_embedded: true, ..Snapshot::default() }, code);
        assert!(!commands.is_empty() && !commands.contains("psql"), "{commands}");
    }
    assert!(!next(&embedded, "store_slow").contains("psql"), "there is no database");
}

#[test]
fn one_destination_that_holds_most_is_responsible_with_the_command_to_stop_it() {
    let hanging = DestinationSeen { last: failing("bad_response", None), ..destination(900) };
    let seen = of(vec![hanging.clone(), destination(10)]);
    assert_eq!(codes(&seen), [("one_destination", Severity::Warning)]);
    let commands = next(&seen, "one_destination");
    assert!(commands.contains("postrider destinations circuit dst_1 open"), "{commands}");
    assert!(commands.contains("postrider destinations edit dst_1 circuit.threshold:=3"), "{commands}");
    assert!(commands.contains("postrider destinations pause dst_1"), "{commands}");
    let deep = of(vec![DestinationSeen { pending: 1001, ..hanging }]);
    assert_eq!(codes(&deep), [("one_destination", Severity::Critical)]);
    let slow = of(vec![DestinationSeen { last: failing("", Some(200)), ..destination(500) }]);
    let commands = next(&slow, "one_destination");
    assert!(commands.contains("max_concurrency:=10"), "it answers, and is only slow: {commands}");
    assert!(!commands.contains("circuit"), "{commands}");
    let commands = next(&of(vec![destination(500)]), "one_destination");
    let told = ["test dst_1", "circuit dst_1 open", "circuit.threshold:=3", "max_concurrency:=10", "pause"];
    let places: Vec<_> = told.iter().map(|command| commands.find(command)).collect();
    assert!(places.is_sorted() && places[0].is_some(), "nothing has ended yet: {commands}");
    let two = of(vec![destination(500), destination(500)]);
    assert_eq!(codes(&two), [("destinations_deep", Severity::Warning)], "neither is responsible");
}

#[test]
fn circuits_stopped_and_blocked_destinations_are_told_with_the_way_out() {
    let open = DestinationSeen { circuit: "open".into(), ..destination(5) };
    let seen = of(vec![open]);
    assert_eq!(codes(&seen), [("circuit_open", Severity::Warning)]);
    assert!(next(&seen, "circuit_open").contains("postrider destinations circuit dst_1 half-open"));
    let paused = |pending| of(vec![DestinationSeen { waiting_for: "paused".into(), ..destination(pending) }]);
    assert_eq!(codes(&paused(5)), [("paused", Severity::Note)]);
    assert_eq!(codes(&paused(2000)), [("paused", Severity::Warning)], "and it is not called responsible");
    assert_eq!(codes(&paused(0)), []);
    let blocked = DestinationSeen { blocked_keys: 2, waiting_for: "dead_letter".into(), ..destination(500) };
    assert_eq!(codes(&of(vec![blocked])), [("blocked", Severity::Warning)]);
}

#[test]
fn slots_that_are_all_in_use_are_told_with_the_arithmetic() {
    let waiting =
        || DestinationSeen { waiting_for: "slots".into(), last: failing("", Some(200)), ..destination(100) };
    let seen =
        |used, count| Snapshot { slots: one_node(used, 100), ..of((0..count).map(|_| waiting()).collect()) };
    assert_eq!(codes(&seen(80, 3)), [("capacity", Severity::Critical)]);
    let found = all(&seen(80, 3));
    let says = "An attempt takes 10.00 s, so 100 slots make 10 attempts a second, and twice as many slots, or a second node, 20: the backlog would be gone after 15 s instead of 30 s.";
    assert!(found[0].sentence.contains(says), "{}", found[0].sentence);
    assert!(found[0].next[0].contains("--slots 200"));
    assert_eq!(codes(&seen(79, 3)), []);
    // The others are kept for priorities that do not use them.
    let lagging = Snapshot { scheduler_lag_seconds: 1.0, ..seen(60, 3) };
    assert_eq!(codes(&lagging), [("capacity", Severity::Critical)]);
    assert_eq!(codes(&seen(80, 2)), [("slots", Severity::Note)]);
    // Of four nodes one is full.
    let slots = Slots { used: 110, total: 400, nodes: 4, busiest: (100, 100) };
    let found = all(&Snapshot { slots: Some(slots), ..seen(0, 3) });
    let says = "110 of 400 are in use on 4 nodes, 100 of 100 on the busiest. An attempt takes 10.00 s, so 400 slots make 40 attempts a second, and twice as many slots, or as many nodes again, 80:";
    assert!(found[0].sentence.contains(says), "{}", found[0].sentence);
    assert!(
        found[0].next[0].contains("--slots 200 …     # twice as many on each node"),
        "{:?}",
        found[0].next
    );
}

#[test]
fn what_waits_for_slots_is_told_long_before_events_are_refused() {
    let seen = |scheduler_lag_seconds| Snapshot { scheduler_lag_seconds, ..Snapshot::default() };
    assert_eq!(codes(&seen(30.0)), []);
    assert_eq!(codes(&seen(31.0)), [("scheduler_lag", Severity::Warning)]);
    assert!(all(&seen(31.0))[0].sentence.contains("has waited 31 s for a slot"));
}

#[test]
fn a_band_that_starves_and_retries_that_crowd_are_told() {
    let band = |overdue_seconds| Waiting { pending: 7, overdue_seconds, ..Waiting::default() };
    let bands = |used, bulk| Snapshot {
        slots: one_node(used, 100),
        bands: vec![band(0.0), band(0.0), band(0.0), band(bulk)],
        ..Snapshot::default()
    };
    let late = ("late", Severity::Note);
    assert_eq!(codes(&bands(90, 1801.0)), [late, ("starved", Severity::Warning)]);
    assert!(all(&bands(90, 1801.0))[1].sentence.starts_with("Priority 4 is starved"));
    assert!(next(&bands(90, 1801.0), "starved").contains("--priority-floors 6,6,6,25 "));
    assert_eq!(codes(&bands(10, 1801.0)), [late], "with free slots something else holds it");
    assert_eq!((codes(&bands(90, 1799.0)), codes(&bands(90, 30.0))), (vec![late], vec![]));
    let crowd = |retries, fresh| Snapshot {
        retries: Waiting { pending: retries, ..Waiting::default() },
        fresh: Waiting { pending: fresh, ..Waiting::default() },
        ..Snapshot::default()
    };
    assert_eq!(codes(&crowd(200, 199)), [("retries", Severity::Warning)]);
    assert_eq!((codes(&crowd(200, 200)), codes(&crowd(199, 0))), (vec![], vec![]));
}

#[test]
fn destinations_that_fail_by_one_cause_are_told_together() {
    for (kind, status, code) in [
        ("dns", None, "dns"),
        ("tls", None, "tls"),
        ("address_refused", None, "address_refused"),
        ("timeout", None, "timeout"),
        ("connect", None, "connect"),
        ("status", Some(401), "credentials"),
    ] {
        let one = || DestinationSeen { last: failing(kind, status), ..destination(1) };
        let seen = of(vec![one(), one()]);
        assert_eq!(codes(&seen), [(code, Severity::Warning)], "{kind}");
        assert!(all(&seen)[0].sentence.starts_with("2 destinations fail by one cause"), "{kind}");
        assert!(!all(&seen)[0].next.is_empty(), "{kind}");
    }
    let failing = DestinationSeen { last: failing("status", Some(500)), ..destination(1) };
    assert_eq!(codes(&of(vec![failing])), [], "a 500 has no one cause");
}
