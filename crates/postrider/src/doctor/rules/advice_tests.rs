//! Each advice is applied to what it was given for, and must change it, in the direction that it says.

use super::all;
use crate::doctor::snapshot::{DestinationSeen, LastAttempt, SettingsSeen, Slots, Snapshot};

/// What the commands of the findings do to a destination: none of them is a no-op, and none goes the wrong way.
fn check(found: &DestinationSeen) {
    let settings = found.settings.clone().unwrap();
    let asks_for_less =
        found.last.as_ref().and_then(|last| last.status).is_some_and(|status| [429, 503].contains(&status));
    let slots = Slots { used: 1, total: 512, nodes: 1, busiest: (1, 512) };
    let alone = Snapshot { pending: found.pending, slots: Some(slots), ..Snapshot::default() };
    for count in [1, 2] {
        let seen = Snapshot { destinations: vec![found.clone(); count], ..alone.clone() };
        for command in all(&seen).into_iter().flat_map(|finding| finding.next) {
            let (typed, says) = command.split_once("#").unwrap_or((&command, ""));
            let words: Vec<&str> = typed.split_whitespace().collect();
            if let ["postrider", "destinations", "circuit", _, state, ..] = words[..] {
                assert_ne!(state, found.circuit.replace('_', "-"), "{found:?}: {command}");
            }
            let ["postrider", "destinations", "edit", _, change, ..] = words[..] else { continue };
            let Some((field, value)) = change.split_once(":=") else { continue };
            let value: f64 = value.parse().unwrap_or_else(|_| panic!("{command}"));
            let (before, goes_down) = match field {
                "circuit.threshold" => {
                    let status = found.last.as_ref().and_then(|last| last.status);
                    assert!(
                        status.is_none_or(|status| status >= 500),
                        "what fails does not count: {command}"
                    );
                    assert!(found.consecutive_failures as f64 >= value, "it would not open: {command}");
                    let now = settings.circuit_threshold.unwrap_or_else(|| panic!("by rate: {command}"));
                    (now as f64, true)
                }
                "timeout_seconds" => (settings.timeout_seconds as f64, true),
                "max_concurrency" => {
                    assert!(!settings.is_strict, "it is sent one at a time: {command}");
                    let is_adapted = found.limit < found.max_concurrency;
                    assert!(asks_for_less || !is_adapted, "it gets fewer than it may: {command}");
                    (found.limit as f64, asks_for_less)
                }
                "rate_limit.per_second" => {
                    let at_once = if settings.is_strict { 1 } else { found.limit };
                    let latency_ms = found.last.as_ref().map_or(f64::NAN, |last| last.latency_ms);
                    let unlimited = at_once as f64 * 1000.0 / latency_ms;
                    let limit = settings.per_second.unwrap_or(f64::INFINITY);
                    (if asks_for_less { limit.min(unlimited) } else { limit }, asks_for_less)
                }
                other => panic!("nothing is known of {other}: {command}"),
            };
            let is_right = if goes_down { value < before } else { value > before };
            assert!(is_right && value > 0.0, "{found:?}, from {before}: {command} {says}");
        }
    }
}

#[test]
fn each_advice_changes_what_it_is_given_for_in_the_direction_that_it_says() {
    let last = |kind: &str, status| {
        Some(LastAttempt { error_kind: kind.into(), status, latency_ms: 40.0, ..LastAttempt::default() })
    };
    let attempts = [
        None,
        last("timeout", None),
        last("connect", None),
        last("status", Some(429)),
        last("status", Some(503)),
        last("status", Some(500)),
        last("status", Some(401)),
        last("status", Some(404)),
        last("", Some(200)),
    ];
    let waits = ["concurrency", "rate_limit", "overwhelmed", "retry_after", "not_due", "slots", "circuit"];
    let mut checked = 0;
    for (circuit_threshold, timeout_seconds) in
        [(Some(1), 1), (Some(2), 3), (Some(3), 5), (None, 10), (Some(10_000), 120)]
    {
        for (max_concurrency, limit, per_second, is_strict) in [
            (1, 1, None, false),
            (5, 1, None, true),
            (1000, 1000, None, false),
            (20, 3, None, false),
            (20, 1, None, false),
            (1, 1, Some(0.001), false),
            (5, 5, Some(50.0), false),
            (5, 5, Some(100_000.0), false),
        ] {
            for (last, waiting_for) in attempts.iter().flat_map(|last| waits.map(|waits| (last, waits))) {
                for (circuit, consecutive_failures) in
                    [("closed", 0), ("closed", 3), ("closed", 50), ("open", 50), ("half_open", 51)]
                {
                    let settings = SettingsSeen {
                        timeout_seconds,
                        circuit_threshold,
                        per_second,
                        is_strict,
                        ..SettingsSeen::default()
                    };
                    check(&DestinationSeen {
                        id: "dst_1".into(),
                        pending: 900,
                        circuit: circuit.into(),
                        waiting_for: waiting_for.into(),
                        max_concurrency,
                        limit,
                        consecutive_failures,
                        last: last.clone(),
                        settings: Some(settings),
                        ..DestinationSeen::default()
                    });
                    checked += 1;
                }
            }
        }
    }
    assert_eq!(checked, 5 * 8 * 9 * 7 * 5);
}

#[test]
fn a_new_credential_goes_where_the_old_one_is() {
    for (auth_type, expected) in [
        ("bearer", "auth_config.token=@FILE"),
        ("header", "auth_config.value=@FILE"),
        ("basic", "auth_config.password=@FILE"),
        ("", "auth_config.type=bearer auth_config.token=@FILE"),
    ] {
        let settings = SettingsSeen { auth_type: auth_type.into(), ..SettingsSeen::default() };
        let refused =
            LastAttempt { error_kind: "status".into(), status: Some(401), ..LastAttempt::default() };
        let found = DestinationSeen {
            id: "dst_1".into(),
            last: Some(refused),
            settings: Some(settings),
            ..DestinationSeen::default()
        };
        let seen = Snapshot { destinations: vec![found], ..Snapshot::default() };
        let commands: Vec<String> = all(&seen).into_iter().flat_map(|finding| finding.next).collect();
        assert!(
            commands.iter().any(|command| command.contains(&format!("edit dst_1 {expected} "))),
            "{commands:?}"
        );
    }
}
