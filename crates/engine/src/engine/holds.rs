//! Which shards wait for requests of an owner that was cut off: those may still be going on at their receivers.

use postrider_core::time::Timestamp;
use postrider_store::{Shard, Shards};
use std::sync::atomic::{AtomicU64, Ordering};

/// For each shard until when, in milliseconds.
pub(crate) struct Holds([AtomicU64; Shard::COUNT as usize]);

impl Default for Holds {
    fn default() -> Self {
        Holds(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Holds {
    /// Some destination of the shard waits until then.
    pub(super) fn note(&self, shard: Shard, until: Timestamp) {
        self.of(shard).fetch_max(until.unix_ms(), Ordering::Relaxed);
    }

    /// Those of which something still waits: whoever has them next must wait too.
    pub(super) fn standing(&self, now: Timestamp) -> Shards {
        let stands = |shard: &Shard| now.unix_ms() < self.of(*shard).load(Ordering::Relaxed);
        Shards::ALL.iter().filter(stands).collect()
    }

    fn of(&self, shard: Shard) -> &AtomicU64 {
        &self.0[usize::from(shard.number())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_stands_until_its_time() {
        let [first, second] = [3, 40].map(|number| Shard::from_number(number).unwrap());
        let at = Timestamp::from_unix_ms;
        let holds = Holds::default();
        assert!(holds.standing(at(0)).is_empty());
        holds.note(first, at(100));
        holds.note(first, at(50));
        holds.note(second, at(200));
        assert_eq!(holds.standing(at(99)), Shards::NONE.with(first).with(second));
        assert_eq!(holds.standing(at(100)), Shards::NONE.with(second));
    }
}
