//! How attempts went by destination, and sending an event again to one of them.

use crate::rig::{Reply, Sink, Site, wait_until};
use serde_json::{Value, json};

#[test]
fn attempts_are_counted_by_destination_with_what_they_ran_into() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    sink.always("/bad", Reply::status(500));
    let (_, path) = api.source();
    let good = api.destination(&sink.url("/good"), &json!({ "name": "good" }));
    let once = json!({ "name": "bad", "retry_policy": { "max_attempts": 1 } });
    let bad = api.destination(&sink.url("/bad"), &once);
    api.destination("http://127.0.0.1:9/", &json!({ "name": "quiet", "active": false }));
    (0..3).for_each(|_| drop(api.send(&path, &[], b"{}")));
    let sum = |health: &Value, field: &str| -> u64 {
        health["minutes"].as_array().into_iter().flatten().filter_map(|minute| minute[field].as_u64()).sum()
    };
    let of = |id: &str| api.get(&format!("/v1/stats/destinations?destination_id={id}")).data(200);
    wait_until("all attempts are counted", || {
        let both = of(&format!("{good},{bad}"));
        let counted: u64 =
            both.as_array()?.iter().map(|one| sum(one, "succeeded") + sum(one, "failed")).sum();
        (counted == 6).then_some(())
    });
    let (good, bad) = (of(&good)[0].clone(), of(&bad)[0].clone());
    assert_eq!((sum(&good, "succeeded"), sum(&good, "failed"), &good["errors"]), (3, 0, &json!([])));
    assert_eq!((sum(&bad, "succeeded"), sum(&bad, "failed")), (0, 3));
    assert_eq!(bad["errors"], json!([{ "error_kind": "status", "count": 3 }]));
    assert_eq!(api.get("/v1/stats/destinations").data(200).as_array().map(Vec::len), Some(2));

    api.get("/v1/stats/destinations?destination_id=dst_0000000000000").refusal(404);
    api.get("/v1/stats/destinations?destination_id=x").refusal(404);
    let many = vec!["dst_0000000000000"; 101].join(",");
    assert!(api.get(&format!("/v1/stats/destinations?destination_id={many}")).refusal(422).contains("100"));
}

#[test]
fn an_event_is_sent_again_to_one_destination_alone() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let one = api.destination(&sink.url("/one"), &json!({ "name": "one" }));
    api.destination(&sink.url("/two"), &json!({ "name": "two" }));
    let unrouted = api.make("/v1/destinations", &json!({ "name": "three", "url": sink.url("/three") }));
    let id = api.send(&path, &[], b"again");
    api.event_once(&id, "delivered");
    let again = |only: &str| api.post(&format!("/v1/events/{id}/replay"), &json!({ "destination_id": only }));
    let replayed = again(&one).data(202)["replay_event_id"].as_str().unwrap_or_default().to_owned();
    let event = api.event_once(&replayed, "delivered");
    assert_eq!(event["event"]["deliveries"].as_array().map(Vec::len), Some(1));
    assert_eq!(sink.wait_for("/one", 2)[1].body, b"again");
    assert_eq!(sink.arrivals_at("/two").len(), 1);
    for wrong in [unrouted.as_str(), "dst_0000000000000", "x"] {
        assert!(again(wrong).refusal(422).starts_with("destination_id must be "), "{wrong}");
    }
    assert_eq!(sink.arrivals_at("/three").len(), 0);
}
