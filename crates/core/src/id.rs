//! Ids: 64 bits, ordered by time, unique over nodes; as text a prefix and Crockford base32.
//!
//! Layout from the top: one zero bit (so that SQL's signed integers keep the order), 41 bits of
//! milliseconds since 2025, 12 bits of sequence, 10 bits of node.

use crate::time::Timestamp;
use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

/// 2025-01-01T00:00:00Z: ids count from here and last until 2094.
const EPOCH_MS: u64 = 1_735_689_600_000;
const NODE_BITS: u32 = 10;
const SEQUENCE_BITS: u32 = 12;
const STEP: u64 = 1 << NODE_BITS;
/// Numbers of nodes are below it; the remainder of an id by it is the number of the node that made it.
pub const NODES_MAX: u64 = STEP;
const TEXT_LENGTH: usize = 13;
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Why a text is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnId;

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not an id: expected a prefix such as evt_ and 13 characters of 0-9 and a-z without i, l, o, u",
        )
    }
}

impl std::error::Error for NotAnId {}

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// What the text form begins with.
            pub const PREFIX: &'static str = $prefix;

            /// How long the text form is.
            pub const TEXT_BYTES: usize = $prefix.len() + TEXT_LENGTH;

            /// From its number, as a store keeps it.
            pub const fn from_u64(value: u64) -> Self {
                $name(value)
            }

            /// Its number, as a store keeps it.
            pub const fn as_u64(self) -> u64 {
                self.0
            }

            /// Writes the text form behind what is there.
            pub fn append_to(self, text: &mut Vec<u8>) {
                text.extend_from_slice($prefix.as_bytes());
                text.extend_from_slice(&base32(self.0));
            }

            /// Reads the text form.
            pub fn parse(text: &str) -> Result<Self, NotAnId> {
                let digits = text.strip_prefix($prefix).ok_or(NotAnId)?;
                parse_base32(digits).map($name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($prefix)?;
                f.write_str(std::str::from_utf8(&base32(self.0)).expect("the alphabet is ASCII"))
            }
        }
    };
}

id_type!(/// A tenant.
    AccountId, "acc_");
id_type!(/// A key to the API.
    ApiKeyId, "key_");
id_type!(/// Where events come in.
    SourceId, "src_");
id_type!(/// Where events go.
    DestinationId, "dst_");
id_type!(/// Which events go to which destination.
    RouteId, "rte_");
id_type!(/// What events of a type must look like.
    EventTypeId, "ety_");
id_type!(/// A fact that came in.
    EventId, "evt_");
id_type!(/// One event owed to one destination.
    DeliveryId, "dlv_");
id_type!(/// One HTTP exchange.
    AttemptId, "att_");
id_type!(/// A job that sends dead letters again.
    ReplayId, "rpl_");
id_type!(/// A change that somebody made.
    AuditId, "aud_");

/// Hands out ids that only ever grow, also when the clock goes back or more than 4,096 fall into one millisecond.
#[derive(Debug)]
pub struct IdGenerator {
    node: u64,
    last: u64,
    /// How far the clocks of other nodes were found to be ahead.
    ahead: Duration,
}

/// Clocks of nodes are less apart. An id that is further ahead was made otherwise, and is passed without staying there.
const AHEAD_MAX: Duration = Duration::from_secs(1);

impl IdGenerator {
    /// For a node; every id it makes is greater than `floor`, the greatest id already in the store.
    pub fn new(node: u16, floor: u64) -> Self {
        assert!(u64::from(node) < STEP, "a node number has {NODE_BITS} bits");
        let last = (floor & !(STEP - 1)) | u64::from(node);
        IdGenerator { node: u64::from(node), last, ahead: Duration::ZERO }
    }

    /// Has another number from now on. Ids go on growing.
    pub fn renumber(&mut self, node: u16) {
        *self = IdGenerator { ahead: self.ahead, ..IdGenerator::new(node, self.last + STEP) };
    }

    /// Ids from now on are greater than this one of another node. What its clock is ahead is made up for, so that ids of the two
    /// go on growing beside each other.
    pub fn pass(&mut self, other: u64, now: Timestamp) {
        let ahead = time_of(other).since(now);
        if ahead <= AHEAD_MAX {
            self.ahead = self.ahead.max(ahead);
        }
        self.last = self.last.max(IdGenerator::new(self.node as u16, other).last);
    }

    /// The next id as a number; wrap it by the type it is for.
    pub fn next(&mut self, now: Timestamp) -> u64 {
        self.last = (least_at(now.after(self.ahead)) | self.node).max(self.last + STEP);
        self.last
    }
}

/// The least number that an id made at this time can have: ids of then and later are at or above it.
pub fn least_at(at: Timestamp) -> u64 {
    at.unix_ms().saturating_sub(EPOCH_MS).min((1 << 41) - 1) << (SEQUENCE_BITS + NODE_BITS)
}

/// When an id was made, to the millisecond.
pub const fn time_of(id: u64) -> Timestamp {
    Timestamp::from_unix_ms((id >> (SEQUENCE_BITS + NODE_BITS)) + EPOCH_MS)
}

/// Where the id of a delivery's event is: the last of an event below it that the same node made. All of an event's ids
/// are made in one moment, so nobody looks far back for one that is made up.
pub fn event_within(delivery: DeliveryId) -> RangeInclusive<u64> {
    let made = time_of(delivery.as_u64());
    least_at(made.before(Duration::from_secs(1)))..=delivery.as_u64()
}

/// Whether two ids were made by the same node.
pub const fn same_node(one: u64, other: u64) -> bool {
    (one ^ other) & (STEP - 1) == 0
}

fn base32(value: u64) -> [u8; TEXT_LENGTH] {
    let mut text = [0u8; TEXT_LENGTH];
    for (index, place) in text.iter_mut().rev().enumerate() {
        *place = ALPHABET[(value >> (5 * index) & 31) as usize];
    }
    text
}

fn parse_base32(digits: &str) -> Result<u64, NotAnId> {
    if digits.len() != TEXT_LENGTH {
        return Err(NotAnId);
    }
    let mut value: u64 = 0;
    for byte in digits.bytes() {
        let digit = ALPHABET.iter().position(|known| *known == byte.to_ascii_lowercase()).ok_or(NotAnId)?;
        value = value.checked_mul(32).ok_or(NotAnId)? | digit as u64;
    }
    if value >> 63 == 1 { Err(NotAnId) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_with_another_number_goes_on_with_greater_ids_that_carry_it() {
        let now = Timestamp::from_unix_ms(EPOCH_MS + 5);
        let mut ids = IdGenerator::new(1000, 0);
        let before = ids.next(now);
        ids.renumber(3);
        let after = ids.next(now);
        assert!(after > before && same_node(after, 3) && same_node(before, 1000));
    }

    #[test]
    fn ids_pass_those_of_a_node_whose_clock_is_ahead_and_stay_beside_them() {
        let now = Timestamp::from_unix_ms(EPOCH_MS + 5);
        let ahead = |ms| now.after(Duration::from_millis(ms));
        let (mut ids, mut other) = (IdGenerator::new(3, 0), IdGenerator::new(1000, 0));
        let theirs = other.next(ahead(20));
        assert!(ids.next(now) < theirs);
        ids.pass(theirs, now);
        let passed = ids.next(now);
        assert!(passed > theirs && same_node(passed, 3));
        assert!(ids.next(ahead(1)) > other.next(ahead(20)), "it is as far ahead from now on");
        let far = other.next(ahead(60_000));
        ids.pass(far, now);
        assert!(ids.next(now) > far, "it is passed");
        assert!(time_of(ids.next(ahead(120_000))) < ahead(121_000), "and not followed");
        ids.pass(theirs, ahead(120_000));
        assert!(ids.next(now) > far, "ids only ever grow");
    }

    #[test]
    fn text_goes_there_and_back_and_sorts_as_the_number_does() {
        let numbers = [0, 1, 31, 32, 1 << 40, (1 << 63) - 1];
        let texts: Vec<String> = numbers.iter().map(|n| EventId::from_u64(*n).to_string()).collect();
        for (text, number) in texts.iter().zip(numbers) {
            assert_eq!(EventId::parse(text), Ok(EventId::from_u64(number)));
        }
        assert!(texts.is_sorted());
    }

    #[test]
    fn texts_that_are_no_ids_are_refused() {
        for text in [
            "",
            "evt_",
            "evt_0",
            "dst_0000000000000",
            "evt_000000000000u",
            "evt_zzzzzzzzzzzzz",
            "evt_00000000000é",
        ] {
            assert_eq!(EventId::parse(text), Err(NotAnId), "{text}");
        }
    }

    #[test]
    fn ids_grow_when_the_clock_stands_still_or_goes_back() {
        let mut ids = IdGenerator::new(3, 0);
        let noon = Timestamp::from_unix_ms(EPOCH_MS + 1_000_000);
        let mut last = 0;
        for step in 0..20_000 {
            let now = if step < 10_000 { noon } else { Timestamp::from_unix_ms(EPOCH_MS) };
            let id = ids.next(now);
            assert!(id > last);
            assert_eq!(id & (STEP - 1), 3, "the node is in every id");
            last = id;
        }
    }

    #[test]
    fn ids_of_a_time_begin_at_the_least_of_it() {
        let noon = Timestamp::from_unix_ms(EPOCH_MS + 1_000_000);
        let made = IdGenerator::new(1023, 0).next(noon);
        assert!(made >= least_at(noon));
        assert_eq!(time_of(made), noon);
        assert!(made < least_at(Timestamp::from_unix_ms(noon.unix_ms() + 1)));
        assert!(same_node(made, IdGenerator::new(1023, made).next(noon)));
        assert!(!same_node(made, IdGenerator::new(1022, made).next(noon)));
    }

    #[test]
    fn ids_begin_above_what_the_store_holds() {
        let floor = (5_u64 << 22) | 7;
        assert!(IdGenerator::new(0, floor).next(Timestamp::ZERO) > floor);
    }
}
