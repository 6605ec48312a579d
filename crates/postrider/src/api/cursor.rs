//! Cursors: where the next page of a list begins. Callers hand them back as they got them.

use super::error::ApiError;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Which kind of list a cursor is of, so that one of another list is not taken for a place in this one.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(crate) enum List {
    Accounts = 1,
    ApiKeys,
    Sources,
    Destinations,
    Routes,
    Events,
    DeadLetters,
    Replays,
    Deliveries,
    Queue,
    EventTypes,
    Audit,
}

impl List {
    /// Of those that are in memory as a whole; the others begin with the oldest.
    pub(crate) const fn is_newest_first(self) -> bool {
        matches!(self, List::Replays)
    }
}

/// The text of a place in a list, which is made of these numbers.
pub(crate) fn text<const N: usize>(list: List, place: [u64; N]) -> String {
    let mut bytes = vec![list as u8];
    place.iter().for_each(|number| bytes.extend(number.to_be_bytes()));
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The place that a text means.
pub(crate) fn parse<const N: usize>(list: List, text: &str) -> Result<[u64; N], ApiError> {
    place(list, text).ok_or_else(|| ApiError::field("cursor", "must be the next_cursor of such a list"))
}

fn place<const N: usize>(list: List, text: &str) -> Option<[u64; N]> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (kind, rest) = bytes.split_first()?;
    let numbers = rest.as_chunks::<8>();
    let whole = *kind == list as u8 && numbers.1.is_empty();
    let numbers: [[u8; 8]; N] = numbers.0.try_into().ok().filter(|_| whole)?;
    let numbers = numbers.map(u64::from_be_bytes);
    // Ids and times have 63 bits, and stores rely on it.
    numbers.iter().all(|number| i64::try_from(*number).is_ok()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cursor_leads_back_to_its_place() {
        let cursor = text(List::Events, [7]);
        assert_eq!(place(List::Events, &cursor), Some([7]));
        let last = i64::MAX as u64;
        assert_eq!(place(List::DeadLetters, &text(List::DeadLetters, [last, 0])), Some([last, 0]));
    }

    #[test]
    fn what_is_no_cursor_of_this_list_is_refused() {
        let cursor = text(List::Events, [7]);
        for bad in [
            "",
            "=",
            "AA",
            "ä",
            "evt_0000000000000",
            &cursor[1..],
            &format!("{cursor}A"),
            &"A".repeat(10_000),
        ] {
            assert_eq!(place::<1>(List::Events, bad), None, "{bad:.50}");
        }
        assert_eq!(place::<1>(List::Events, &text(List::Events, [u64::MAX])), None);
        assert_eq!(place::<1>(List::Sources, &cursor), None);
        assert_eq!(place::<2>(List::Events, &cursor), None);
    }

    proptest! {
        #[test]
        fn any_text_is_a_place_or_none_and_a_place_has_one_text(given in any::<String>(), numbers in any::<[u64; 2]>()) {
            let _ = place::<1>(List::Events, &given);
            let numbers = numbers.map(|number| number >> 1);
            let cursor = text(List::DeadLetters, numbers);
            prop_assert_eq!(place(List::DeadLetters, &cursor), Some(numbers));
            prop_assert_eq!(place::<2>(List::Events, &cursor), None);
        }
    }
}
