//! Rings of what happened when.

use super::Harness;
use crate::{Moment, Ring, SeriesPoint, Store};

fn point(ring: Ring, point: u64, accepted: u64) -> SeriesPoint {
    let mut moment = Moment { accepted, pending: 7, ..Moment::default() };
    moment.latency[0].note(accepted);
    SeriesPoint { ring, point, moment }
}

async fn accepted(store: &dyn Store, ring: Ring, since: u64) -> Vec<(u64, u64)> {
    let found = store.series(ring, since).await.unwrap();
    found.iter().map(|found| (found.point, found.moment.accepted)).collect()
}

pub async fn a_point_comes_back_and_the_next_writing_replaces_it(harness: &dyn Harness) {
    let store = harness.open().await;
    assert_eq!(store.series(Ring::Seconds, 0).await.unwrap(), []);
    let written = point(Ring::Seconds, 1_700_000_000, 3);
    store.keep_series(vec![written.clone(), point(Ring::Seconds, 1_700_000_001, 4)]).await.unwrap();
    assert_eq!(store.series(Ring::Seconds, 0).await.unwrap()[0], written);
    store.keep_series(vec![point(Ring::Seconds, 1_700_000_001, 5)]).await.unwrap();
    let all = [(1_700_000_000, 3), (1_700_000_001, 5)];
    assert_eq!(accepted(&*store, Ring::Seconds, 0).await, all);
    assert_eq!(accepted(&*store, Ring::Seconds, 1_700_000_001).await, all[1..]);
}

pub async fn rings_are_kept_apart_and_outlive_a_crash(harness: &dyn Harness) {
    let store = harness.open().await;
    let written = point(Ring::Hours, 50, 2);
    store.keep_series(vec![point(Ring::Seconds, 50, 1), written.clone()]).await.unwrap();
    assert_eq!(store.own_point(Ring::Hours, 50).await.unwrap().as_ref(), Some(&written.moment));
    drop(store);
    let store = harness.open().await;
    assert_eq!(accepted(&*store, Ring::Seconds, 0).await, [(50, 1)]);
    assert_eq!(accepted(&*store, Ring::Minutes, 0).await, []);
    assert_eq!(accepted(&*store, Ring::Hours, 0).await, [(50, 2)]);
    // A node among others may come back with another number, and begins a point of its own beside the old one.
    if !store.is_shared() {
        let own = store.own_point(Ring::Hours, 50).await.unwrap();
        assert_eq!(own, Some(written.moment), "it can be gone on with");
    }
    assert_eq!(store.own_point(Ring::Hours, 51).await.unwrap(), None);
    assert_eq!(store.own_point(Ring::Minutes, 50).await.unwrap(), None);
}

pub async fn a_ring_holds_so_many_points_and_no_more(harness: &dyn Harness) {
    let store = harness.open().await;
    let (first, points) = (1000, Ring::Hours.points());
    let all = (first..first + points + 3).map(|number| point(Ring::Hours, number, number));
    store.keep_series(all.collect()).await.unwrap();
    let kept = accepted(&*store, Ring::Hours, 0).await;
    assert_eq!(kept.len() as u64, points);
    assert_eq!((kept[0], kept[kept.len() - 1].0), ((first + 3, first + 3), first + points + 2));
}
