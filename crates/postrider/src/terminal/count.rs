//! A number with what it counts: one segment, two segments.

/// The noun is given as for one.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_goes_by_its_number() {
        for (count, noun, expected) in [
            (0, "event", "0 events"),
            (1, "event", "1 event"),
            (2, "dead letter", "2 dead letters"),
            (1, "delivery", "1 delivery"),
            (30, "delivery", "30 deliveries"),
        ] {
            assert_eq!(counted(count, noun), expected);
        }
    }
}
