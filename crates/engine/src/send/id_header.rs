//! A second header with the id of an event, for receivers of other systems that know it by another name.

use postrider_store::Headers;

/// Stays with an event, so that its replays have that header too; it is not passed on itself. Its value is the name of the
/// header.
pub const ID_HEADER: &str = "postrider-id-header";

/// The names that other systems have for it. Whoever sends an event may name one of them and no other header.
const NAMES: [&str; 3] = ["x-webhook-event-id", "x-webhook-job-id", "x-webhook-id"];

/// The name of the header, if there is to be one.
pub(crate) fn of(headers: &Headers) -> Option<&'static str> {
    let (_, named) = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(ID_HEADER)).last()?;
    NAMES.into_iter().find(|known| *known == named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_stands_under_names_that_are_known_for_it_alone() {
        for (named, expected) in [
            ("x-webhook-event-id", Some("x-webhook-event-id")),
            ("x-webhook-job-id", Some("x-webhook-job-id")),
            ("authorization", None),
            ("", None),
        ] {
            let headers: Headers = [("x", "1"), ("Postrider-Id-Header", named)].into_iter().collect();
            assert_eq!(of(&headers), expected, "{named}");
        }
        assert_eq!(of(&Headers::default()), None);
    }
}
