//! Who gets a place, who goes for it, and what it costs.

use super::*;
use tokio::time::advance;

fn take(room: &Room, address: &str) -> Option<Place> {
    room.take(address.parse().unwrap()).ok()
}

/// One whose client waits for its answer.
fn busy(room: &Room, address: &str) -> Option<Place> {
    take(room, address).inspect(|place| assert!(place.client.begin_answer()))
}

fn room(total: usize, per_address: usize) -> Room {
    Room::new(watch::channel(ConnectionLimits { total, per_address }).1)
}

#[test]
fn other_limits_count_for_the_next_connection() {
    let (limits, current) = watch::channel(ConnectionLimits { total: 1, per_address: 1 });
    let room = Room::new(current);
    let first = busy(&room, "192.0.2.1");
    assert!(first.is_some() && take(&room, "198.51.100.7").is_none());
    limits.send_replace(ConnectionLimits { total: 2, per_address: 1 });
    assert!(take(&room, "198.51.100.7").is_some());
}

#[test]
fn one_network_leaves_room_for_the_others() {
    let room = room(10, 2);
    let first = [busy(&room, "192.0.2.1"), busy(&room, "::ffff:192.0.2.1")];
    assert!(first.iter().all(Option::is_some) && take(&room, "192.0.2.1").is_none());
    let network = [busy(&room, "2001:db8::1"), busy(&room, "2001:db8::ffff:2")];
    assert!(network.iter().all(Option::is_some) && take(&room, "2001:db8::3").is_none());
    let beside = [busy(&room, "2001:db8:0:1::1"), busy(&room, "2001:db8:0:2::1")];
    assert!(beside.iter().all(Option::is_some) && take(&room, "2001:db8:0:3::1").is_none(), "one /48");
    assert!(take(&room, "2001:db8:1::1").is_some() && take(&room, "198.51.100.7").is_some());
    drop((first, network, beside));
    assert!(lock(&room.open).by_network.is_empty(), "nothing is remembered of who has left");
    assert!(lock(&room.open).connections.is_empty());
}

#[test]
fn a_network_that_has_its_share_loses_its_own_idle_connections_alone() {
    let room = room(10, 2);
    let other = take(&room, "198.51.100.7").unwrap();
    let [idle, answered] = [take(&room, "192.0.2.1").unwrap(), busy(&room, "192.0.2.1").unwrap()];
    assert!(take(&room, "192.0.2.1").is_some());
    assert!(idle.client.is_dropped() && !answered.client.is_dropped() && !other.client.is_dropped());
}

#[test]
fn this_machine_may_have_all_of_it() {
    let room = room(4, 1);
    let places = ["127.0.0.1", "127.0.0.1", "::1", "::1"].map(|address| busy(&room, address));
    assert!(places.iter().all(Option::is_some) && take(&room, "127.0.0.1").is_none());
}

#[test]
fn the_stranger_who_has_waited_longest_goes_first() {
    let room = room(4, 9);
    let known = take(&room, "192.0.2.1").unwrap();
    known.client.recognize();
    let [oldest, other] = ["192.0.2.2", "192.0.2.3"].map(|address| take(&room, address).unwrap());
    let answered = busy(&room, "192.0.2.4").unwrap();
    oldest.client.has_waited(RECOGNIZED_WAIT_MIN);
    assert!(take(&room, "192.0.2.5").is_some());
    assert!(oldest.client.is_dropped() && !oldest.client.begin_answer(), "it answers nobody any more");
    for kept in [&known, &other, &answered] {
        assert!(!kept.client.is_dropped());
    }
    drop(oldest);
    assert_eq!(lock(&room.open).ending, 0);
}

#[tokio::test(start_paused = true)]
async fn where_all_are_busy_a_reserve_is_left() {
    let room = room(32, 99);
    let busy: Vec<Place> = (0..30).map(|_| busy(&room, "192.0.2.1").unwrap()).collect();
    assert!(busy.iter().all(|place| !place.client.is_of_reserve()));
    let probe = take(&room, "192.0.2.2").unwrap();
    assert!(probe.client.is_of_reserve());
    // Who is recognised keeps its connection for a moment only.
    busy[0].client.recognize();
    busy[0].client.wait();
    assert!(probe.client.begin_answer() && take(&room, "192.0.2.2").unwrap().client.is_of_reserve());
    busy[0].client.has_waited(RECOGNIZED_WAIT_MIN);
    advance(LOOK_EVERY).await;
    assert!(!take(&room, "192.0.2.2").unwrap().client.is_of_reserve() && busy[0].client.is_dropped());
}
/// A room that is full, with one connection that was dropped and never ends.
fn stuck() -> (Room, Vec<Place>) {
    let room = room(4, 2);
    let mut places = vec![take(&room, "198.51.100.7").unwrap()];
    let busy = ["192.0.2.1", "192.0.2.1", "192.0.2.3", "192.0.2.4"];
    places.extend(busy.map(|address| busy_in(&room, address)));
    assert_eq!(lock(&room.open).ending, 1);
    (room, places)
}

fn busy_in(room: &Room, address: &str) -> Place {
    busy(room, address).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_client_over_its_own_share_waits_for_nobody() {
    let (room, _places) = stuck();
    let began = Instant::now();
    assert!(room.take_soon("192.0.2.1".parse().unwrap()).await.is_none());
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_those_for_which_another_has_waited_in_vain() {
    let (room, mut places) = stuck();
    let took = async || {
        let began = Instant::now();
        let place = room.take_soon("203.0.113.1".parse().unwrap()).await;
        (place, began.elapsed() >= Duration::from_millis(ENDING_WAITS_MAX.into()))
    };
    for waits in [true, false, false] {
        let (place, waited) = took().await;
        assert!(place.is_none() && waited == waits);
    }
    // The one that was dropped, and another.
    places.drain(..2);
    let _place = took().await.0.expect("it has ended at last");
}

#[tokio::test(start_paused = true)]
async fn a_crowd_has_few_connections_looked_at_for_each_that_comes() {
    const CROWD: usize = 1000;
    let room = room(4096, 1024);
    let mut held: Vec<_> = (0..1024).map(|_| take(&room, "192.0.2.1").unwrap()).collect();
    let looked_at = |held: &mut Vec<Place>, address: &dyn Fn(usize) -> String| {
        let before = lock(&room.open).looked_at.get();
        for number in 0..CROWD {
            held.extend(take(&room, &address(number)));
            held.retain(|place| !place.client.is_dropped());
        }
        lock(&room.open).looked_at.get() - before
    };
    let of_idle = looked_at(&mut held, &|_| "192.0.2.1".to_owned());
    assert!(of_idle <= CROWD * 100, "{of_idle} of a network that is idle");
    held.iter().for_each(|place| assert!(place.client.begin_answer()));
    let of_busy = looked_at(&mut held, &|_| "192.0.2.1".to_owned());
    assert!(of_busy <= 4 * 1024, "{of_busy} of a network that is busy");
    held.extend((0..4096).map_while(|number| busy(&room, &format!("10.0.{}.1", number % 250))));
    let of_all = looked_at(&mut held, &|number| format!("10.1.{}.1", number % 250));
    assert!(of_all <= 2 * 4096, "{of_all} of all");
}
