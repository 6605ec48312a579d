//! One destination that hangs does not keep the others from being served.

use super::Stage;
use crate::rig::{Reply, wait_within};
use serde_json::json;
use std::time::Duration;

/// Far below the timeout of the one that hangs, far above what a busy machine takes.
const AT_ONCE: Duration = Duration::from_secs(4);

#[test]
fn nineteen_are_served_at_once_while_one_hangs_with_most_of_the_events() {
    let stage = Stage::new(&["--slots", "10"]);
    stage.sink.always("/hangs", Reply::held());
    stage.destination("hangs", 3, &json!({ "timeout_seconds": 60 }));
    let others: Vec<String> = (0..19).map(|number| format!("other{number}")).collect();
    for name in &others {
        stage.destination(name, 3, &json!({}));
    }
    let stuck = stage.send_many("hangs", 180);
    stage.sink.wait_for("/hangs", 5);
    let mut sent: Vec<String> = others.iter().map(|name| stage.send(name, &json!({}))).collect();
    sent.push(stage.send(&others[0], &json!({})));
    wait_within(AT_ONCE, "the others are served", || {
        let served = |name: &String| stage.sink.arrivals_at(&format!("/{name}")).len();
        (others.iter().map(served).sum::<usize>() == 20).then_some(())
    });
    stage.all_delivered(&sent);
    assert_eq!(stage.sink.in_flight_max("/hangs"), 5, "the default of max_concurrency");
    assert_eq!(stage.sink.arrivals_at("/hangs").len(), 5);
    stage.sink.release();
    stage.all_delivered(&stuck);
}
