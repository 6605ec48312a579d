//! How many connections there may be, over all and from one network; and which one goes when there is no room.
//!
//! A connection that only waits for its client never keeps out another. The one that has waited longest goes first:
//! strangers before those who have shown a key. Some room is kept for probes and keys, for when nobody waits.

use super::client::{Admission, ClientConnection};
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The parts of an IPv6 address that are counted: whoever has one address has all of its /64, and many have a /48.
const IPV6_NETWORKS: [(u32, usize); 2] = [(64, 1), (48, 2)];
/// One in so many connections is kept for probes and keys.
const RESERVE_PART: usize = 16;
const RESERVE_MAX: usize = 64;
/// One in so many connections is dropped at once, of all or of a network, so that a crowd does not have all of them looked
/// through each time.
const DROPPED_PART: usize = 64;
/// Where few could be dropped it is not looked again for so long: nearly all are busy, and each look is at all of them.
const LOOK_EVERY: Duration = Duration::from_millis(10);
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
    /// The last wait for those that are ending was in vain.
    is_stuck: AtomicBool,
}

/// Holds no more networks than there are connections, twice.
#[derive(Default)]
struct Open {
    connections: HashMap<u64, Arc<ClientConnection>>,
    by_network: HashMap<Network, InNetwork>,
    last_number: u64,
    /// When fewer than one would drop at once could be dropped of all.
    found_few_at: Option<Instant>,
    /// Those among them that were dropped and whose tasks have not ended yet.
    ending: usize,
    /// How many connections were looked at to find those that could be dropped.
    #[cfg(test)]
    looked_at: std::cell::Cell<usize>,
}

/// The connections of a network.
#[derive(Default)]
struct InNetwork {
    numbers: HashSet<u64>,
    /// Those among them that were dropped and whose tasks have not ended yet.
    ending: usize,
    /// The same of these.
    found_few_at: Option<Instant>,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// The network of this client has its share.
    Network,
    Total,
}

/// A connection's right to be served; given back when dropped.
pub(crate) struct Place {
    open: Arc<Mutex<Open>>,
    number: u64,
    pub(super) client: Arc<ClientConnection>,
}

/// An IPv4 address, or so many bits of an IPv6 address.
pub(crate) type Network = (IpAddr, u32);

impl Room {
    pub(super) fn new(limits: watch::Receiver<ConnectionLimits>) -> Self {
        Room { limits, open: Arc::default(), is_stuck: AtomicBool::new(false) }
    }

    /// A place for a connection from this address, while there is one or one can be made.
    pub(super) fn take(&self, address: IpAddr) -> Result<Place, Full> {
        let address = address.to_canonical();
        let mut open = lock(&self.open);
        let admission = self.admission(&mut open, address)?;
        let client = Arc::new(ClientConnection::new(address, admission));
        open.last_number += 1;
        let number = open.last_number;
        open.connections.insert(number, Arc::clone(&client));
        for (network, _) in networks(address) {
            open.by_network.entry(network).or_default().numbers.insert(number);
        }
        OPENED.fetch_add(1, Relaxed);
        Ok(Place { open: Arc::clone(&self.open), number, client })
    }

    /// The same, after a moment for those that were just dropped to end: their threads may be busy with a crowd. All others
    /// wait behind it, so whoever is over the share of its own network waits for nobody, and one wait in vain is enough.
    pub(super) async fn take_soon(&self, address: IpAddr) -> Option<Place> {
        for _ in 0..ENDING_WAITS_MAX {
            match self.take(address) {
                Err(Full::Total) if lock(&self.open).ending > 0 && !self.is_stuck.load(Relaxed) => {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                Err(_) => return None,
                Ok(place) => {
                    self.is_stuck.store(false, Relaxed);
                    return Some(place);
                }
            }
        }
        let place = self.take(address).ok();
        self.is_stuck.store(place.is_none(), Relaxed);
        place
    }

    fn admission(&self, open: &mut Open, address: IpAddr) -> Result<Admission, Full> {
        let ConnectionLimits { total, per_address } = *self.limits.borrow();
        let at_once = total.div_ceil(DROPPED_PART);
        if !address.is_loopback() {
            for (network, share) in networks(address) {
                open.make_room_within(network, share * per_address)?;
            }
        }
        // What was just dropped is on its way out, and may stand beside what is taken for a moment.
        if open.connections.len() >= total + at_once {
            return Err(Full::Total);
        }
        let reserve = (total / RESERVE_PART).min(RESERVE_MAX);
        if open.connections.len() - open.ending < total - reserve || open.make_room(at_once) {
            return Ok(Admission::Usual);
        }
        if open.connections.len() < total { Ok(Admission::Reserve) } else { Err(Full::Total) }
    }
}

impl Open {
    /// Makes room among all: strangers go before those who have shown a key.
    fn make_room(&mut self, at_once: usize) -> bool {
        if is_too_soon(self.found_few_at) {
            return false;
        }
        let all = || self.connections.values();
        let mut dropped = self.drop_waiting(at_once, all().filter(|client| !client.is_recognized()));
        if dropped.is_empty() {
            let long = |client: &&Arc<ClientConnection>| client.waited() >= Some(RECOGNIZED_WAIT_MIN);
            dropped = self.drop_waiting(at_once, all().filter(long));
        }
        self.found_few_at = (dropped.len() < at_once).then(Instant::now);
        self.note_ending(&dropped)
    }

    /// Makes room among the connections of a network that has its share.
    fn make_room_within(&mut self, network: Network, share: usize) -> Result<(), Full> {
        let Some(within) = self.by_network.get(&network) else { return Ok(()) };
        let (open, at_once) = (within.numbers.len(), share.div_ceil(DROPPED_PART));
        if open - within.ending < share && open < share + at_once {
            return Ok(());
        }
        if open >= share + at_once || is_too_soon(within.found_few_at) {
            return Err(Full::Network);
        }
        let own = within.numbers.iter().filter_map(|number| self.connections.get(number));
        let dropped = self.drop_waiting(at_once, own);
        if let Some(within) = self.by_network.get_mut(&network) {
            within.found_few_at = (dropped.len() < at_once).then(Instant::now);
        }
        if self.note_ending(&dropped) { Ok(()) } else { Err(Full::Network) }
    }

    /// These were dropped; whether there are any.
    fn note_ending(&mut self, dropped: &[Arc<ClientConnection>]) -> bool {
        self.ending += dropped.len();
        DROPPED.fetch_add(dropped.len() as u64, Relaxed);
        for (network, _) in dropped.iter().flat_map(|client| networks(client.address())) {
            self.by_network.entry(network).or_default().ending += 1;
        }
        !dropped.is_empty()
    }

    /// Drops those of these that have waited longest for their clients.
    fn drop_waiting<'o>(
        &self,
        most: usize,
        among: impl Iterator<Item = &'o Arc<ClientConnection>>,
    ) -> Vec<Arc<ClientConnection>> {
        #[cfg(test)]
        let among = among.inspect(|_| self.looked_at.set(self.looked_at.get() + 1));
        let mut waiting: Vec<_> =
            among.filter_map(|client| client.waited().map(|waited| (waited, client))).collect();
        if waiting.len() > most {
            waiting.select_nth_unstable_by(most, |one, other| other.0.cmp(&one.0));
        }
        let oldest = waiting.into_iter().take(most).map(|(_, client)| client);
        oldest.filter(|client| client.drop_waiting()).map(Arc::clone).collect()
    }
}

fn is_too_soon(found_few_at: Option<Instant>) -> bool {
    found_few_at.is_some_and(|at| at.elapsed() < LOOK_EVERY)
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        open.connections.remove(&self.number);
        let was_ending = usize::from(self.client.is_dropped());
        open.ending -= was_ending;
        for (network, _) in networks(self.client.address()) {
            if let Some(within) = open.by_network.get_mut(&network) {
                within.numbers.remove(&self.number);
                within.ending -= was_ending;
                if within.numbers.is_empty() {
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
pub(crate) fn networks(address: IpAddr) -> impl Iterator<Item = (Network, usize)> {
    let counted: &[(u32, usize)] = if address.is_ipv4() { &[(u32::MAX, 1)] } else { &IPV6_NETWORKS };
    counted.iter().map(move |(bits, share)| ((masked(address, *bits), *bits), *share))
}

/// What counts as one address.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    masked(address.to_canonical(), IPV6_NETWORKS[0].0)
}

fn masked(address: IpAddr, bits: u32) -> IpAddr {
    match address {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << (u128::BITS - bits))).into(),
        IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests;
