//! Parameters of a list that are unknown or beyond what is allowed.

use super::check_unharmed;
use crate::rig::Site;
use serde_json::json;

#[test]
fn a_bad_parameter_is_named() {
    let site = Site::new();
    let mut gateway = site.start();
    check_unharmed(&mut gateway, |api, faults| {
        for (query, names) in [
            ("limit=0", "limit"),
            ("limit=-1", "limit"),
            ("limit=201", "limit"),
            ("limit=1.5", "limit"),
            ("limit=", "limit"),
            ("limit=ten", "limit"),
            ("limit=99999999999999999999", "limit"),
            ("offset=-1", "offset"),
            ("offset=99999999999999999999", "offset"),
            ("offset=1e3", "offset"),
            ("status=lost", "status"),
            ("status=", "status"),
            ("direction=up", "direction"),
            ("source_id=5", "source_id"),
            ("source_id=dst_0000000000000", "source_id"),
            ("source_id=%00", "source_id"),
            ("colour=red", "colour"),
            ("Limit=5", "Limit"),
            ("limit=5&limit=x", ""),
        ] {
            faults.check(&api.get(&format!("/v1/events?{query}")), names, query);
        }
        for query in ["%zz=1", "%ff=%fe", "&&&=", "=", "limit"] {
            faults.check(&api.get(&format!("/v1/events?{query}")), "", query);
        }
    });
}

#[test]
fn a_bad_filter_of_dead_letters_is_named() {
    let site = Site::new();
    let mut gateway = site.start();
    check_unharmed(&mut gateway, |api, faults| {
        for (query, names) in [
            ("limit=0", "limit"),
            ("limit=201", "limit"),
            ("offset=0", "offset"),
            ("cursor=", "cursor"),
            ("cursor=5", "cursor"),
            ("cursor=5-evt_0000000000000", "cursor"),
            ("cursor=99999999999999999999-dlv_0000000000001", "cursor"),
            ("destination_id=5", "destination_id"),
            ("destination_id=src_0000000000000", "destination_id"),
            ("source_id=", "source_id"),
            ("event_type=a..b", "event_type"),
            ("event_type=", "event_type"),
            ("reason=boredom", "reason"),
            ("since=yesterday", "since"),
            ("since=2026-02-30T00:00:00Z", "since"),
            ("until=1768464000", "until"),
            ("since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "since"),
            ("delivery_ids=dlv_0000000000001", "delivery_ids"),
            ("colour=red", "colour"),
        ] {
            faults.check(&api.get(&format!("/v1/dead-letters?{query}")), names, query);
            if !query.starts_with("limit") && !query.starts_with("cursor") {
                faults.check(&api.get(&format!("/v1/dead-letters/export?{query}")), names, query);
            }
        }
        faults.check(&api.get("/v1/dead-letters/export?format=xml"), "format", "format=xml");
        faults.check(&api.get("/v1/dead-letters/export?limit=5"), "limit", "limit=5");
    });
}

#[test]
fn a_bad_replay_or_discard_is_named() {
    let site = Site::new();
    let mut gateway = site.start();
    check_unharmed(&mut gateway, |api, faults| {
        for (body, names) in [
            (json!({ "filter": 5 }), "filter"),
            (json!({ "filter": [] }), "filter"),
            (json!({ "filter": { "colour": "red" } }), "colour"),
            (json!({ "filter": { "reason": 5 } }), "filter.reason"),
            (json!({ "filter": { "delivery_ids": [] } }), "filter.delivery_ids"),
            (json!({ "filter": { "delivery_ids": "dlv_0000000000001" } }), "filter.delivery_ids"),
            (json!({ "filter": { "delivery_ids": vec!["dlv_0000000000001"; 1001] } }), "filter.delivery_ids"),
            (json!({ "filter": { "since": "2026-01-01" } }), "filter.since"),
            (json!({ "dry_run": "yes" }), "dry_run"),
            (json!({ "rate_per_second": 0 }), "rate_per_second"),
            (json!({ "rate_per_second": -1 }), "rate_per_second"),
            (json!({ "rate_per_second": 1e9 }), "rate_per_second"),
            (json!({ "rate_per_second": "fast" }), "rate_per_second"),
            (json!({ "rate": 5 }), "rate"),
            (json!([]), "object"),
        ] {
            faults.check(&api.post("/v1/replays", &body), names, &body.to_string());
        }
        for (body, names) in [
            (json!({ "colour": "red" }), "colour"),
            (json!({ "filter": {} }), "filter"),
            (json!({ "reason": "boredom" }), "reason"),
            (json!({ "delivery_ids": [5] }), "delivery_ids"),
        ] {
            faults.check(&api.post("/v1/dead-letters/discard", &body), names, &body.to_string());
        }
        let none = "/v1/replays/rpl_0000000000001";
        faults.check(&api.patch(none, &json!({ "state": "done" })), "state", "done");
        faults.check(&api.patch(none, &json!({ "state": 5 })), "state", "5");
        faults.check(&api.patch(none, &json!({ "colour": "red" })), "colour", "colour");
    });
}
