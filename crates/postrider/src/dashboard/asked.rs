//! What a visitor asked of a list: its filters, as the form sent them, and the place to begin at.

use super::inside::path;
use serde::Deserialize;
use std::collections::HashMap;

#[derive(Deserialize, Default)]
#[serde(transparent)]
pub(super) struct Asked(HashMap<String, String>);

impl Asked {
    /// A field as it was filled in; those that were left out are empty.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |value| value.trim())
    }

    pub(super) fn is(&self, name: &str, value: &str) -> bool {
        self.text(name) == value
    }

    /// Whether one of these filters was filled in.
    pub(super) fn has_any(&self, filters: &[&str]) -> bool {
        filters.iter().any(|name| !self.text(name).is_empty())
    }

    /// Whether the list begins with the newest: only there does something come by itself.
    pub(super) fn is_newest(&self) -> bool {
        self.text("cursor").is_empty()
    }

    /// A path with these filters and the place, as far as they were filled in.
    pub(super) fn path(&self, base: &str, filters: &[&str]) -> String {
        self.at(base, filters, self.text("cursor"))
    }

    /// A page of a list without filters. It would be in full otherwise, however long it is.
    pub(super) fn page(&self, base: &str) -> String {
        let cursor = Some(self.text("cursor")).filter(|cursor| !cursor.is_empty());
        path(base, &[("limit", Some(PAGE_MAX)), ("cursor", cursor)])
    }

    /// The same list from another place on.
    pub(super) fn at(&self, base: &str, filters: &[&str], cursor: &str) -> String {
        let given = filters.iter().map(|name| (*name, self.text(name))).chain([("cursor", cursor)]);
        let given: Vec<_> =
            given.map(|(name, value)| (name, Some(value).filter(|value| !value.is_empty()))).collect();
        path(base, &given)
    }
}

/// Of a list without filters: with the longest names that there can be, its page is below 100 kB.
const PAGE_MAX: &str = "50";

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(pairs: &[(&str, &str)]) -> Asked {
        Asked(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn a_path_has_the_filters_of_its_list_that_were_filled_in() {
        let asked = asked(&[("status", " queued "), ("type", ""), ("limit", "9"), ("cursor", "a")]);
        assert_eq!(asked.path("/v1/events", &["status", "type"]), "/v1/events?status=queued&cursor=a");
        assert_eq!(asked.at("/events", &["status"], "b&c"), "/events?status=queued&cursor=b%26c");
        assert_eq!(asked.text("nothing"), "");
    }
}
