//! What fires an alert is found here too: the doctor must not say that nothing is wrong while a pager rings.

use super::*;

/// What the doctor says of it, or why it cannot.
enum Told {
    By(&'static str, Severity, Box<Snapshot>),
    Not(&'static str),
}

fn by(code: &'static str, severity: Severity, seen: Snapshot) -> Told {
    Told::By(code, severity, Box::new(seen))
}

fn of_bands(bands: [Waiting; 4]) -> Snapshot {
    let pending = bands.iter().map(|band| band.pending).sum();
    Snapshot { bands: bands.into(), pending, ..Snapshot::default() }
}

/// Many destinations with few deliveries each.
fn spread(pending: u64) -> Snapshot {
    let destinations = vec![destination(100); 20];
    Snapshot { pending, destinations, slots: one_node(0, 512), ..Snapshot::default() }
}

/// At the threshold of each alert.
fn table() -> Vec<(&'static str, Told)> {
    let none = Waiting::default();
    let critical = of_bands([Waiting { pending: 11, ..none }, none, none, none]);
    let bulk = of_bands([none, none, none, Waiting { oldest_seconds: 7201.0, ..none }]);
    let late = of_bands([none, none, Waiting { overdue_seconds: 31.0, ..none }, none]);
    let limited =
        DestinationSeen { waiting_for: "concurrency".into(), overdue_seconds: 61.0, ..destination(100) };
    let short = Snapshot { shortages: vec![("local_ports".into(), 1)], ..Snapshot::default() };
    let open = DestinationSeen { circuit: "open".into(), ..destination(0) };
    let slots = Snapshot {
        slots: one_node(410, 512),
        ..of(vec![destination(150), destination(150), destination(150)])
    };
    let refused =
        |code: &str| Snapshot { not_ready: Some((code.into(), "No.".into())), ..Snapshot::default() };
    let disk = |free| Snapshot { disk: Some((free, 100)), ..Snapshot::default() };
    let (note, warning) = (Severity::Note, Severity::Warning);
    vec![
        ("PostriderQueueDeep", by("queue_deep", warning, spread(1001))),
        (
            "PostriderDestinationQueueDeep",
            by("destinations_deep", warning, of(vec![destination(201), destination(201)])),
        ),
        ("PostriderSlotsSaturated", by("slots", note, slots)),
        (
            "PostriderSchedulerLag",
            by("scheduler_lag", warning, Snapshot { scheduler_lag_seconds: 31.0, ..Snapshot::default() }),
        ),
        ("PostriderDestinationLate", by("destinations_late", warning, of(vec![limited]))),
        ("PostriderQueueWaitLong", by("late", note, late)),
        ("PostriderCriticalWaiting", by("critical_waiting", Severity::Critical, critical)),
        ("PostriderNormalQueueDeep", by("queue_deep", warning, spread(5001))),
        ("PostriderBulkStarving", by("bulk_waits", warning, bulk)),
        ("PostriderDiskLow", by("disk_low", warning, disk(199))),
        ("PostriderDiskFull", by("disk_full", Severity::Critical, refused("disk_full"))),
        ("PostriderCircuitOpen", by("circuit_open", warning, of(vec![open]))),
        (
            "PostriderDeadLettersRising",
            by("dead_letters", note, of_account(AccountSeen { deaths_last_hour: 1, ..acme() })),
        ),
        (
            "PostriderShedding",
            by("shedding", Severity::Critical, Snapshot { shed: 1, ..Snapshot::default() }),
        ),
        ("PostriderNotReady", by("overloaded", Severity::Critical, refused("overloaded"))),
        ("PostriderNodeResources", by("node_resources", Severity::Critical, short)),
        (
            "PostriderFenced",
            Told::Not("nodes count it in their metrics alone, and it is over when it is seen"),
        ),
    ]
}

#[test]
fn every_alert_has_a_finding_or_a_reason() {
    let file = include_str!("../../../../../../deploy/prometheus/alerts.yml");
    let shipped: Vec<&str> = file.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    let table = table();
    assert_eq!(table.iter().map(|(alert, _)| *alert).collect::<Vec<_>>(), shipped);
    for (alert, told) in table {
        match told {
            Told::By(code, severity, seen) => {
                assert_eq!(codes(&seen), [(code, severity)], "{alert}");
                assert!(!next(&seen, code).is_empty(), "{alert} has no way out");
            }
            Told::Not(reason) => assert!(!reason.is_empty(), "{alert}"),
        }
    }
}

#[test]
fn destinations_that_are_deep_are_told_together_by_what_they_wait_for() {
    let waiting = |id: &str, waiting_for: &str| DestinationSeen {
        id: id.into(),
        waiting_for: waiting_for.into(),
        ..destination(5000)
    };
    // Two that are only slow: their attempts succeed, and there are slots.
    let slow = of(vec![waiting("dst_1", "concurrency"), waiting("dst_2", "concurrency")]);
    assert_eq!(codes(&slow), [("destinations_deep", Severity::Critical)]);
    let says = "2 destinations have more than 200 deliveries waiting, and wait for concurrency: \"billing\" (dst_1) with 5000, \"billing\" (dst_2) with 5000.";
    assert_eq!(all(&slow)[0].sentence, says);
    assert!(next(&slow, "destinations_deep").contains("edit dst_1 max_concurrency:=10"));
    // Ten behind one proxy.
    let behind = |found: DestinationSeen| DestinationSeen { last: failing("status", Some(503)), ..found };
    let proxy = of((0..10).map(|n| behind(waiting(&format!("dst_{n}"), "retry_after"))).collect());
    let expected = [("destinations_deep", Severity::Critical), ("overwhelmed", Severity::Warning)];
    assert_eq!(codes(&proxy), expected);
    assert!(all(&proxy)[0].sentence.ends_with(" with 5000, and 5 more."), "{}", all(&proxy)[0].sentence);
    let one = of(vec![DestinationSeen { last: failing("status", Some(503)), ..destination(1) }]);
    assert_eq!(codes(&one), [], "one is its owner's matter");
    // Whatever another rule names is not told twice, and does not count as spread over many.
    let told =
        of(vec![waiting("dst_1", "paused"), DestinationSeen { circuit: "open".into(), ..destination(900) }]);
    assert_eq!(codes(&told), [("circuit_open", Severity::Warning), ("paused", Severity::Warning)]);
}

#[test]
fn shards_without_an_owner_and_refusals_are_told() {
    let unowned = |unowned| Snapshot { unowned, ..Snapshot::default() };
    assert_eq!(codes(&unowned((3, 0))), [("unowned_shards", Severity::Warning)]);
    assert_eq!(codes(&unowned((1, 7))), [("unowned_shards", Severity::Critical)]);
    let says = "1 shard has no owner: no node sends the 7 deliveries pending there.";
    assert_eq!(all(&unowned((1, 7)))[0].sentence, says);
    let shed =
        Snapshot { shed: 40, not_ready: Some(("overloaded".into(), "No.".into())), ..Snapshot::default() };
    assert_eq!(codes(&shed), [("overloaded", Severity::Critical)], "which says that events are refused");
}
