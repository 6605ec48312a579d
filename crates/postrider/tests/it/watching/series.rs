//! What happened when, as `/v1/stats/series` tells it, also after a crash.

use crate::rig::{Api, Reply, wait_until};
use crate::scheduling::Stage;
use serde_json::{Value, json};

fn series(api: &Api, resolution: &str) -> Value {
    api.get(&format!("/v1/stats/series?resolution={resolution}")).data(200)
}

/// All points together: a test may run over the end of a minute.
fn sum(series: &Value, field: &str) -> u64 {
    series["points"].as_array().unwrap().iter().map(|point| point[field].as_u64().unwrap()).sum()
}

/// Waits until each ring has counted so many deliveries and dead letters.
fn counted_once(api: &Api, delivered: u64, dead_letters: u64) {
    for resolution in ["1s", "1m", "1h"] {
        wait_until(&format!("{resolution} has counted them"), || {
            let found = series(api, resolution);
            (sum(&found, "delivered") == delivered && sum(&found, "dead_letters") == dead_letters)
                .then_some(())
        });
    }
}

#[test]
fn what_happened_is_in_every_ring_and_outlives_a_crash() {
    let mut stage = Stage::new(&[]);
    stage.sink.always("/down", Reply::status(500));
    let id = stage.destination("in", 2, &json!({}));
    let policy = json!({ "delays_seconds": [0.01], "max_attempts": 2, "jitter": "none" });
    stage.destination("down", 3, &json!({ "retry_policy": policy }));
    stage.send_many("in", 3);
    stage.send("down", &json!({}));
    counted_once(&stage.api, 3, 1);
    let found = series(&stage.api, "1h");
    let sums = ["accepted", "attempts", "retries", "shed"].map(|field| sum(&found, field));
    assert_eq!(sums, [4, 5, 1, 0]);
    assert_eq!(found["latency"][1]["latency"]["count"], 3, "of priority 2");
    assert!(found["latency"][1]["latency"]["p95_seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(found["latency"][2]["latency"], json!({ "count": 0 }));
    let stats = stage.api.get("/v1/stats").data(200);
    assert_eq!(stats["latency"].as_array().unwrap().len(), 1, "nothing was delivered to the other");
    assert_eq!(stats["latency"][0]["destination_id"], id);
    assert_eq!(stats["latency"][0]["latency"]["count"], 3);
    stage.kill();
    counted_once(&stage.api, 3, 1);
    stage.send_many("in", 2);
    counted_once(&stage.api, 5, 1);
    assert_eq!(sum(&series(&stage.api, "1h"), "accepted"), 6, "the hour goes on where it was");
    let refusal = stage.api.get("/v1/stats/series?resolution=2m").refusal(422);
    assert!(refusal.contains("resolution") && refusal.contains("1s, 1m or 1h"), "{refusal}");
}
