//! The live parts of a page: what is inside of its elements whose ids begin with `live-`.
//!
//! Pages are our own, and what they show of others has neither `<` nor quotes that are not escaped. So tags can be
//! counted, and nobody's text can be taken for a part.

use serde_json::{Map, Value};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

const MARK: &str = " id=\"live-";

/// Whether a page says that parts of it change by themselves.
pub(super) fn are_live(page: &str) -> bool {
    page.contains(" data-live>")
}

/// What a reader has been shown: a hash of each part, since pages are large and readers many.
#[derive(Default)]
pub(super) struct Shown(HashMap<String, u64>);

impl Shown {
    /// The parts that are not as they were shown, by their ids; they count as shown from now on.
    pub(super) fn changes(&mut self, page: &str) -> Option<Map<String, Value>> {
        let mut changes = Map::new();
        for (id, inside) in parts(page) {
            let mut hasher = DefaultHasher::new();
            inside.hash(&mut hasher);
            let hash = hasher.finish();
            if self.0.insert(id.to_owned(), hash) != Some(hash) {
                changes.insert(id.to_owned(), inside.into());
            }
        }
        (!changes.is_empty()).then_some(changes)
    }
}

fn parts(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.match_indices(MARK).filter_map(|(at, _)| part(page, at))
}

fn part(page: &str, at: usize) -> Option<(&str, &str)> {
    let open = page[..at].rfind('<')?;
    let tag = page[open + 1..at].split(' ').next()?;
    let id = page[at..].split('"').nth(1)?;
    let inside = page[at..].split_once('>')?.1;
    Some((id, &inside[..end(inside, tag)?]))
}

/// Where an element ends: at the end tag that no other of its name has opened.
fn end(inside: &str, tag: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, _) in inside.match_indices('<') {
        let rest = &inside[at + 1..];
        match rest.strip_prefix('/') {
            Some(rest) if is_named(rest, tag) && depth == 0 => return Some(at),
            Some(rest) if is_named(rest, tag) => depth -= 1,
            None if is_named(rest, tag) => depth += 1,
            _ => {}
        }
    }
    None
}

fn is_named(rest: &str, tag: &str) -> bool {
    rest.strip_prefix(tag).is_some_and(|behind| behind.starts_with(['>', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_where_its_element_does() {
        let page = "<main><div id=\"live-a\" data-live>1<div class=\"x\">2</div><divan>3</divan></div>\
            <section class=\"card\" id=\"live-b\"><p>4</p></section><div id=\"dead\">5</div>\
            <p>&#34; id=&#34;live-c&#34;&#62;</p><div id=\"live-d\">never ends</main>";
        let found: Vec<_> = parts(page).collect();
        assert_eq!(found, [("live-a", "1<div class=\"x\">2</div><divan>3</divan>"), ("live-b", "<p>4</p>")]);
        assert!(are_live(page) && !are_live("<div id=\"live-b\"><p> data-live&#62;</p></div>"));
    }

    #[test]
    fn what_was_shown_is_not_shown_again() {
        let page = |first: &str| format!("<p id=\"live-a\">{first}</p><p id=\"live-b\">2</p>");
        let mut shown = Shown::default();
        let ids = |changes: Option<Map<String, Value>>| changes.map(Vec::from_iter);
        let told = |id: &str, inside: &str| (id.to_owned(), Value::from(inside));
        assert_eq!(ids(shown.changes(&page("1"))), Some(vec![told("live-a", "1"), told("live-b", "2")]));
        assert_eq!(ids(shown.changes(&page("1"))), None);
        assert_eq!(ids(shown.changes(&page("3"))), Some(vec![told("live-a", "3")]));
    }
}
