//! How many connections there may be, over all and from one network; and which one goes when there is no room.
//!
//! A connection that only waits for its client never keeps out another. The one that has waited longest goes first:
//! strangers before those who have shown a key. Some room is kept for probes and keys, for when nobody waits.

use super::client::{Admission, ClientConnection};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// The parts of an IPv6 address that are counted: whoever has one address has all of its /64, and many have a /48.
const IPV6_NETWORKS: [(u32, usize); 2] = [(64, 1), (48, 2)];
/// One in so many connections is kept for probes and keys.
const RESERVE_PART: usize = 16;
const RESERVE_MAX: usize = 64;
/// One in so many connections is dropped at once, so that a crowd does not have all of them looked through each time.
const DROPPED_PART: usize = 64;
/// A client that was recognised keeps its idle connection for so long whatever comes.
const RECOGNIZED_WAIT_MIN: Duration = Duration::from_secs(1);

/// Milliseconds for which a new connection waits for those that make room for it. The next ones wait behind it.
const ENDING_WAITS_MAX: u32 = 100;

/// How many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionLimits {
    pub(crate) total: usize,
    /// Of one IPv4 address or one /64 of IPv6, and twice as many of one /48. Does not hold for this machine itself,
    /// where a proxy may stand for all clients.
    pub(crate) per_address: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        ConnectionLimits { total: 4096, per_address: 1024 }
    }
}

/// What happened to connections since the start, on all listeners.
pub(crate) static OPENED: AtomicU64 = AtomicU64::new(0);
pub(crate) static CLOSED: AtomicU64 = AtomicU64::new(0);
/// Dropped while they waited for their client, to make room.
pub(crate) static DROPPED: AtomicU64 = AtomicU64::new(0);
/// Closed as they came.
pub(crate) static REFUSED: AtomicU64 = AtomicU64::new(0);

pub(super) struct Room {
    /// As they are now: they may change while the gateway runs.
    limits: watch::Receiver<ConnectionLimits>,
    open: Arc<Mutex<Open>>,
}

/// Holds no more networks than there are connections, twice.
#[derive(Default)]
struct Open {
    connections: HashMap<u64, Arc<ClientConnection>>,
    by_network: HashMap<Network, usize>,
    last_number: u64,
    /// Those among them that were dropped and whose tasks have not ended yet.
    ending: usize,
}

/// A connection's right to be served; given back when dropped.
pub(crate) struct Place {
    open: Arc<Mutex<Open>>,
    number: u64,
    pub(super) client: Arc<ClientConnection>,
}

/// An IPv4 address, or so many bits of an IPv6 address.
type Network = (IpAddr, u32);

impl Room {
    pub(super) fn new(limits: watch::Receiver<ConnectionLimits>) -> Self {
        Room { limits, open: Arc::default() }
    }

    /// A place for a connection from this address, while there is one or one can be made.
    pub(super) fn take(&self, address: IpAddr) -> Option<Place> {
        let address = address.to_canonical();
        let mut open = lock(&self.open);
        let admission = self.admission(&mut open, address)?;
        let client = Arc::new(ClientConnection::new(address, admission));
        open.last_number += 1;
        let number = open.last_number;
        open.connections.insert(number, Arc::clone(&client));
        for (network, _) in networks(address) {
            *open.by_network.entry(network).or_default() += 1;
        }
        OPENED.fetch_add(1, Relaxed);
        Some(Place { open: Arc::clone(&self.open), number, client })
    }

    /// The same, after a moment for those that were just dropped to end: their threads may be busy with a crowd.
    pub(super) async fn take_soon(&self, address: IpAddr) -> Option<Place> {
        for _ in 0..ENDING_WAITS_MAX {
            let place = self.take(address);
            if place.is_some() || lock(&self.open).ending == 0 {
                return place;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.take(address)
    }

    fn admission(&self, open: &mut Open, address: IpAddr) -> Option<Admission> {
        let ConnectionLimits { total, per_address } = *self.limits.borrow();
        let at_once = total.div_ceil(DROPPED_PART);
        if !address.is_loopback() {
            for (network, share) in networks(address) {
                let is_full =
                    open.by_network.get(&network).is_some_and(|count| *count >= share * per_address);
                if is_full && open.drop_waiting(1, |client| is_within(client.address(), network)) == 0 {
                    return None;
                }
            }
        }
        // What was just dropped is on its way out, and may stand beside what is taken for a moment.
        if open.connections.len() >= total + at_once {
            return None;
        }
        let reserve = (total / RESERVE_PART).min(RESERVE_MAX);
        let has_room = open.connections.len() - open.ending < total - reserve;
        if has_room
            || open.drop_waiting(at_once, |client| !client.is_recognized()) > 0
            || open.drop_waiting(at_once, |client| client.waited() >= Some(RECOGNIZED_WAIT_MIN)) > 0
        {
            return Some(Admission::Usual);
        }
        (open.connections.len() < total).then_some(Admission::Reserve)
    }
}

impl Open {
    /// Drops those of these that have waited longest for their clients; gives how many.
    fn drop_waiting(&mut self, most: usize, may_go: impl Fn(&ClientConnection) -> bool) -> usize {
        let waiting = self.connections.values().filter(|client| may_go(client));
        let mut waiting: Vec<_> =
            waiting.filter_map(|client| client.waited().map(|waited| (waited, client))).collect();
        if waiting.len() > most {
            waiting.select_nth_unstable_by(most, |one, other| other.0.cmp(&one.0));
        }
        let dropped = waiting.iter().take(most).filter(|(_, client)| client.drop_waiting()).count();
        self.ending += dropped;
        DROPPED.fetch_add(dropped as u64, Relaxed);
        dropped
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        open.connections.remove(&self.number);
        open.ending -= usize::from(self.client.is_dropped());
        for (network, _) in networks(self.client.address()) {
            if let Some(count) = open.by_network.get_mut(&network) {
                *count -= 1;
                if *count == 0 {
                    open.by_network.remove(&network);
                }
            }
        }
        CLOSED.fetch_add(1, Relaxed);
    }
}

fn lock(open: &Mutex<Open>) -> MutexGuard<'_, Open> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an address is counted with, each with how many times the share of one address it has.
fn networks(address: IpAddr) -> impl Iterator<Item = (Network, usize)> {
    let counted: &[(u32, usize)] = if address.is_ipv4() { &[(u32::MAX, 1)] } else { &IPV6_NETWORKS };
    counted.iter().map(move |(bits, share)| ((masked(address, *bits), *bits), *share))
}

/// What counts as one address.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    masked(address.to_canonical(), IPV6_NETWORKS[0].0)
}

fn is_within(address: IpAddr, (network, bits): Network) -> bool {
    address.is_ipv4() == network.is_ipv4() && masked(address, bits) == network
}

fn masked(address: IpAddr, bits: u32) -> IpAddr {
    match address {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << (u128::BITS - bits))).into(),
        IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(room: &Room, address: &str) -> Option<Place> {
        room.take(address.parse().unwrap())
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

    #[test]
    fn where_all_are_busy_a_reserve_is_left() {
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
        assert!(!take(&room, "192.0.2.2").unwrap().client.is_of_reserve() && busy[0].client.is_dropped());
    }
}
