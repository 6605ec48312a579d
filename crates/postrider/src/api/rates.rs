//! How often a key may be used and a source be sent to. Only those with a limit cost anything.

use super::error::ApiError;
use postrider_core::destination::RateLimit;
use postrider_core::rate_gate::RateGate;
use postrider_core::time::Timestamp;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// From so many on, gates that have rested are forgotten before another is made; they would say yes all the same.
const GATES_KEPT: usize = 4096;

const TOO_OFTEN: &str = "This is more often than its rate_limit allows";

/// The gates of all keys and sources, by their ids, which are unique among both.
#[derive(Default)]
pub(crate) struct Rates(Mutex<HashMap<u64, (RateLimit, RateGate)>>);

impl Rates {
    /// Lets one pass, or says when to come again.
    pub(crate) fn pass(&self, id: u64, limit: RateLimit, now: Timestamp) -> Result<(), ApiError> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if gates.len() >= GATES_KEPT && !gates.contains_key(&id) {
            gates.retain(|_, (_, gate)| !gate.is_rested(now));
        }
        let (known_limit, gate) = gates.entry(id).or_insert((limit, RateGate::default()));
        if *known_limit != limit {
            gate.change(limit, now);
            *known_limit = limit;
        }
        let opens_at = gate.open_at(limit);
        if opens_at > now {
            return Err(ApiError::rate_limited(TOO_OFTEN, opens_at.since(now)));
        }
        gate.pass(limit, now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const START: Timestamp = Timestamp::from_unix_ms(1_000_000);

    fn limit(per_second: f64, burst: u64) -> RateLimit {
        RateLimit::new(per_second, Some(burst)).unwrap()
    }

    fn passed(rates: &Rates, id: u64, limit: RateLimit, now: Timestamp) -> usize {
        (0..100).filter(|_| rates.pass(id, limit, now).is_ok()).count()
    }

    #[test]
    fn each_has_its_own_gate() {
        let rates = Rates::default();
        assert_eq!(passed(&rates, 1, limit(1.0, 3), START), 3);
        assert_eq!(passed(&rates, 2, limit(1.0, 5), START), 5);
        let later = START.after(Duration::from_secs(2));
        assert_eq!(passed(&rates, 1, limit(1.0, 3), later), 2);
        let (changed, rested) = (later.after(Duration::from_secs(1)), later.after(Duration::from_secs(2)));
        assert_eq!(passed(&rates, 1, limit(1000.0, 50), changed), 0, "a new limit owes at most its burst");
        assert_eq!(passed(&rates, 1, limit(1000.0, 50), rested), 50);
    }

    #[test]
    fn gates_that_have_rested_are_forgotten() {
        let rates = Rates::default();
        let many = 3 * GATES_KEPT as u64;
        for id in 0..many {
            let now = START.after(Duration::from_secs(id));
            assert!(rates.pass(id, limit(1.0, 1), now).is_ok());
        }
        assert!(rates.0.lock().unwrap().len() <= GATES_KEPT);
    }
}
