//! How many connections there may be: over all, and from one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Whoever has an address of IPv6 has all of its network.
const IPV6_NETWORK_BITS: u32 = 64;

/// How many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionLimits {
    pub(crate) total: usize,
    /// Does not hold for this machine itself, where a proxy may stand for all clients.
    pub(crate) per_address: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        ConnectionLimits { total: 4096, per_address: 1024 }
    }
}

pub(super) struct Room {
    /// As they are now: they may change while the gateway runs.
    limits: watch::Receiver<ConnectionLimits>,
    taken: Arc<Mutex<Taken>>,
}

/// Holds no more addresses than there are connections.
#[derive(Default)]
struct Taken {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// A connection's right to be served; given back when dropped.
pub(crate) struct Place {
    taken: Arc<Mutex<Taken>>,
    address: IpAddr,
}

impl Room {
    pub(super) fn new(limits: watch::Receiver<ConnectionLimits>) -> Self {
        Room { limits, taken: Arc::default() }
    }

    /// A place for a connection from this address, while there is one.
    pub(super) fn take(&self, address: IpAddr) -> Option<Place> {
        let address = network(address.to_canonical());
        let limits = *self.limits.borrow();
        let mut taken = lock(&self.taken);
        let from_there = taken.by_address.get(&address).copied().unwrap_or(0);
        let crowded = from_there >= limits.per_address && !address.is_loopback();
        if crowded || taken.total >= limits.total {
            return None;
        }
        taken.total += 1;
        taken.by_address.insert(address, from_there + 1);
        Some(Place { taken: Arc::clone(&self.taken), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        taken.total -= 1;
        if let Some(count) = taken.by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                taken.by_address.remove(&self.address);
            }
        }
    }
}

fn lock(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What counts as one address.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) if !v6.is_loopback() => {
            let bits = v6.to_bits() >> (u128::BITS - IPV6_NETWORK_BITS) << (u128::BITS - IPV6_NETWORK_BITS);
            IpAddr::V6(bits.into())
        }
        same => same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(total: usize, per_address: usize) -> Room {
        Room::new(watch::channel(ConnectionLimits { total, per_address }).1)
    }

    fn take(room: &Room, address: &str) -> Option<Place> {
        room.take(address.parse().unwrap())
    }

    #[test]
    fn one_address_leaves_room_for_the_others() {
        let room = room(5, 2);
        let first = [take(&room, "192.0.2.1"), take(&room, "::ffff:192.0.2.1")];
        assert!(first.iter().all(Option::is_some) && take(&room, "192.0.2.1").is_none());
        let network = [take(&room, "2001:db8::1"), take(&room, "2001:db8::ffff:2")];
        assert!(network.iter().all(Option::is_some) && take(&room, "2001:db8::3").is_none());
        let last = take(&room, "2001:db8:0:1::1");
        assert!(last.is_some() && take(&room, "198.51.100.7").is_none(), "five are all there are");
        drop((first, network, last));
        assert!(lock(&room.taken).by_address.is_empty(), "nothing is remembered of who has left");
        assert!(take(&room, "192.0.2.1").is_some());
    }

    #[test]
    fn other_limits_count_for_the_next_connection() {
        let (limits, current) = watch::channel(ConnectionLimits { total: 1, per_address: 1 });
        let room = Room::new(current);
        let first = take(&room, "192.0.2.1");
        assert!(first.is_some() && take(&room, "198.51.100.7").is_none());
        limits.send_replace(ConnectionLimits { total: 2, per_address: 1 });
        assert!(take(&room, "198.51.100.7").is_some());
    }

    #[test]
    fn this_machine_may_have_all_of_it() {
        let room = room(4, 1);
        let places: Vec<_> =
            ["127.0.0.1", "127.0.0.1", "::1", "::1"].map(|address| take(&room, address)).into();
        assert!(places.iter().all(Option::is_some) && take(&room, "127.0.0.1").is_none());
    }
}
