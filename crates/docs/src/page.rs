//! One page of the site.

use crate::markdown::{Part, render};
use pulldown_cmark::HeadingLevel;

/// A file of `docs/`, rendered.
pub struct Page {
    /// What its address ends with.
    pub slug: &'static str,
    /// Its first heading.
    pub title: String,
    pub(crate) html: String,
    pub(crate) parts: Vec<Part>,
    /// Title and text of each part in small letters: a query compares and converts nothing.
    pub(crate) searchable: Vec<(String, String)>,
}

impl Page {
    pub(crate) fn new(slug: &'static str, text: &str) -> Self {
        let rendered = render(text);
        let title = rendered.parts.first().map_or_else(|| slug.to_owned(), |part| part.title.clone());
        let searchable =
            rendered.parts.iter().map(|part| (part.title.to_lowercase(), part.text.to_lowercase())).collect();
        Page { slug, title, html: rendered.html, parts: rendered.parts, searchable }
    }

    /// The parts that the table of contents names.
    pub(crate) fn chapters(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.level == HeadingLevel::H2)
    }
}
