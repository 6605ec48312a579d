//! Wrong keys: how many may come from one address before it is told to wait.
//!
//! A key that we made is 160 random bits, which nobody guesses: one that is right passes, whatever else comes from its
//! address. The gateway's own keys may have been chosen by a person. From an address that is over its burst they are not
//! even compared, unless they have come from there before: whoever sits behind the operator's proxy must not be able to
//! lock the operator out.

use super::App;
use super::error::ApiError;
use crate::serve::client;
use crate::serve::room::{self, Network};
use postrider_core::destination::RateLimit;
use postrider_core::rate_gate::RateGate;
use postrider_core::time::Timestamp;
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A person mistypes, and a program with an old key tries again; neither needs more at once.
const BURST: u64 = 50;
const PER_SECOND: f64 = 1.0;
/// Networks counted separately. Further ones share one gate until others have been quiet for long enough.
const GATES_MAX: usize = 8192;
/// How often it is looked which of them have rested, while there is no room.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Addresses from which the gateway's own keys came last.
const KNOWN_MAX: usize = 256;
/// Stands for all networks that there is no room for.
const THE_OTHERS: (Network, usize) = ((IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0), 1);

#[derive(Default)]
pub(crate) struct WrongKeys {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    gates: HashMap<Network, RateGate>,
    /// When it was looked last which gates have rested.
    looked_at: Timestamp,
    /// Where the gateway's own keys came from, the last one at the end.
    known: VecDeque<IpAddr>,
}

impl WrongKeys {
    /// Counts a wrong key of this address; says how long to wait when it is one too many.
    fn count(&self, address: IpAddr, now: Timestamp) -> Result<(), Duration> {
        let mut state = self.lock();
        state.open(address, now)?;
        for (network, share) in state.counted(address, now) {
            state.gates.entry(network).or_default().pass(limit(share), now);
        }
        Ok(())
    }

    /// Whether a key that may have been chosen by a person is compared with what comes from this address.
    fn may_guess(&self, address: IpAddr, now: Timestamp) -> Result<(), Duration> {
        let mut state = self.lock();
        if state.known.contains(&room::network(address)) { Ok(()) } else { state.open(address, now) }
    }

    /// Notes that one of the gateway's own keys has come from this address.
    fn know(&self, address: IpAddr) {
        let mut state = self.lock();
        let address = room::network(address);
        if state.known.back() == Some(&address) {
            return;
        }
        state.known.retain(|known| *known != address);
        state.known.push_back(address);
        if state.known.len() > KNOWN_MAX {
            state.known.pop_front();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether all gates of an address are open. A network that waits takes no room for those inside of it.
    fn open(&mut self, address: IpAddr, now: Timestamp) -> Result<(), Duration> {
        let gates = self.counted(address, now).into_iter();
        let opens_at =
            gates.filter_map(|(network, share)| Some(self.gates.get(&network)?.open_at(limit(share))));
        let opens_at = opens_at.max().unwrap_or(now);
        if opens_at > now { Err(opens_at.since(now)) } else { Ok(()) }
    }

    /// The networks whose gates count for this address, each with how much more than one address it may. Gates that have
    /// rested would say yes all the same, and make room.
    fn counted(&mut self, address: IpAddr, now: Timestamp) -> Vec<(Network, usize)> {
        let networks: Vec<_> = room::networks(address.to_canonical()).collect();
        let is_new = |gates: &HashMap<_, _>| networks.iter().any(|(network, _)| !gates.contains_key(network));
        let is_full = |gates: &HashMap<_, _>| gates.len() + networks.len() > GATES_MAX;
        if !is_full(&self.gates) || !is_new(&self.gates) {
            return networks;
        }
        if now.since(self.looked_at) >= LOOK_EVERY {
            self.looked_at = now;
            self.gates.retain(|_, gate| !gate.is_rested(now));
        }
        if is_full(&self.gates) { vec![THE_OTHERS] } else { networks }
    }
}

fn limit(share: usize) -> RateLimit {
    let burst = BURST * share as u64;
    RateLimit::new(PER_SECOND * share as f64, Some(burst)).expect("both are in range")
}

impl App {
    /// Refuses whoever has shown a key that is none.
    pub(super) fn wrong_key(&self) -> ApiError {
        let now = self.engine.clock().now();
        let counted = client::address().map_or(Ok(()), |address| self.wrong_keys.count(address, now));
        counted.map_or_else(too_many, |()| ApiError::unauthorized())
    }

    /// Whether a key that somebody has shown is this one of the gateway's own.
    pub(super) fn is_own_key(&self, is_right: bool) -> Result<bool, ApiError> {
        let Some(address) = client::address() else { return Ok(is_right) };
        let may_guess = self.wrong_keys.may_guess(address, self.engine.clock().now());
        match (is_right, may_guess) {
            (false, _) => Ok(false),
            (true, Err(wait)) => Err(too_many(wait)),
            (true, Ok(())) => {
                self.wrong_keys.know(address);
                Ok(true)
            }
        }
    }
}

fn too_many(wait: Duration) -> ApiError {
    ApiError::rate_limited("Too many wrong keys came from your address", wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv6Addr;

    const START: Timestamp = Timestamp::from_unix_ms(1_000_000);
    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

    fn counted(keys: &WrongKeys, address: IpAddr, now: Timestamp) -> u64 {
        (0..2 * BURST).filter(|_| keys.count(address, now).is_ok()).count() as u64
    }

    fn v6(network: u64, host: u64) -> IpAddr {
        IpAddr::V6(Ipv6Addr::from_bits(u128::from(network) << 64 | u128::from(host)))
    }

    #[test]
    fn an_address_has_a_burst_of_its_own_and_then_waits() {
        let keys = WrongKeys::default();
        assert_eq!(counted(&keys, HERE, START), BURST);
        assert_eq!(keys.count(HERE, START), Err(Duration::from_secs(1)));
        assert_eq!(counted(&keys, THERE, START), BURST);
        assert_eq!(counted(&keys, HERE, START.after(Duration::from_secs(3))), 3);
        let rested = START.after(Duration::from_secs(1000));
        assert_eq!(counted(&keys, HERE, rested), BURST, "a rest earns the burst and no more");
    }

    #[test]
    fn a_network_of_ipv6_is_one_address_and_many_of_them_are_two() {
        let keys = WrongKeys::default();
        let passed = |addresses: &mut dyn Iterator<Item = IpAddr>| {
            addresses.filter(|address| keys.count(*address, START).is_ok()).count() as u64
        };
        assert_eq!(passed(&mut (0..2 * BURST).map(|host| v6(0x2001_0db8, host))), BURST);
        assert_eq!(passed(&mut (0..9 * BURST).map(|network| v6(0x2001_0db9 + network, 1))), BURST, "one /48");
        assert_eq!(keys.lock().gates.len() as u64, BURST + 2, "and it takes no more room than that");
        assert!(keys.count(v6(0x2001_0db8 << 16, 1), START).is_ok(), "another /48");
    }

    #[test]
    fn an_own_key_is_not_compared_over_the_burst_unless_it_came_from_there_before() {
        let keys = WrongKeys::default();
        assert!(keys.may_guess(HERE, START).is_ok());
        counted(&keys, HERE, START);
        assert_eq!(keys.may_guess(HERE, START), Err(Duration::from_secs(1)));
        assert!(keys.may_guess(THERE, START).is_ok(), "another address");
        keys.know(THERE);
        counted(&keys, THERE, START);
        assert!(keys.may_guess(THERE, START).is_ok(), "it has come from there before");
        assert!(keys.may_guess(HERE, START.after(Duration::from_secs(1))).is_ok());
    }

    #[test]
    fn however_many_networks_come_the_memory_is_bounded_and_all_of_them_are_counted() {
        let keys = WrongKeys::default();
        let passed = (0..3 * GATES_MAX as u64).filter(|network| {
            keys.know(v6(network << 16, 1));
            keys.count(v6(network << 16, 1), START).is_ok()
        });
        assert_eq!(passed.count(), GATES_MAX / 2 + BURST as usize, "those without room are counted together");
        assert!(keys.lock().gates.len() <= GATES_MAX + 1);
        assert_eq!(keys.lock().known.len(), KNOWN_MAX);
        assert!(keys.count(HERE, START).is_err(), "one more shares the gate of the others");
        assert!(keys.may_guess(HERE, START).is_err());
        keys.know(HERE);
        assert!(keys.may_guess(HERE, START).is_ok(), "who had the right key before is not locked out");
        assert!(keys.count(HERE, START.after(Duration::from_secs(200))).is_ok(), "those who rest make room");
    }
}
