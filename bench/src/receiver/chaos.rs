//! Chaos by thirds: what a request gets follows from its path, its event and its number among the attempts, so that
//! one run of a gateway meets the same chaos however it orders its attempts.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Third {
    Fine,
    Failing,
    Late,
}

impl Third {
    /// `attempt` counts from 1.
    pub(crate) fn of(path: &str, event: &str, attempt: u32) -> Third {
        let bytes = path.bytes().chain([0]).chain(event.bytes()).chain(attempt.to_le_bytes());
        match finish(bytes.fold(FNV_OFFSET, fnv)) % 3 {
            0 => Third::Fine,
            1 => Third::Failing,
            _ => Third::Late,
        }
    }
}

/// FNV-1a in 64 bits: the same on every machine and in every version, which the standard hasher does not promise.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

fn fnv(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
}

/// The last bytes differ most between attempts and move FNV's low bits least: murmur's finish mixes them in.
fn finish(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_attempt_always_meets_the_same_third() {
        for event in ["evt_1", "evt_2"] {
            assert_eq!(Third::of("/chaos/1/a", event, 1), Third::of("/chaos/1/a", event, 1));
        }
    }

    #[test]
    fn each_third_is_a_third_over_events_and_over_attempts() {
        let over_events: Vec<Third> =
            (0..3000).map(|n| Third::of("/chaos/1/a", &format!("evt_{n}"), 1)).collect();
        let over_attempts: Vec<Third> = (0..3000).map(|n| Third::of("/chaos/1/a", "evt_1", n)).collect();
        for thirds in [over_events, over_attempts] {
            for third in [Third::Fine, Third::Failing, Third::Late] {
                let count = thirds.iter().filter(|met| **met == third).count();
                // Five standard deviations of a fair draw are 129.
                assert!(count.abs_diff(1000) < 130, "{third:?}: {count} of 3,000");
            }
        }
    }
}
