//! The pages of `docs/` as a site: with navigation, search and links that lead to each other.
//!
//! The site is in the binary, because an operator's network may have no internet and errors of the API link to pages.
//! It has no script. The same pages can be written out as files ([`files`]).

mod contents;
mod layout;
mod markdown;
mod page;
mod search;

pub use page::Page;

use std::sync::OnceLock;

/// Where the site is served.
pub const ROOT: &str = "/docs/";
/// How the pages look.
pub const STYLE: &str = include_str!("style.css");

/// All pages, in the order of the navigation. Rendered once.
pub fn pages() -> &'static [Page] {
    static PAGES: OnceLock<Vec<Page>> = OnceLock::new();
    PAGES.get_or_init(|| {
        let sources = contents::SECTIONS.iter().flat_map(|section| section.pages);
        sources.map(|(slug, text)| Page::new(slug, text)).collect()
    })
}

/// The front page.
pub fn home() -> String {
    layout::home()
}

/// The page of this name (`operating`), as HTML.
pub fn page(slug: &str) -> Option<String> {
    let page = pages().iter().find(|page| page.slug == slug)?;
    Some(layout::page(page))
}

/// The diagram of this file name (`architecture.svg`).
pub fn image(name: &str) -> Option<&'static str> {
    contents::IMAGES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// What stands at an address without a page.
pub fn not_found() -> String {
    layout::not_found()
}

/// The places of all pages that have every word of the query.
pub fn search(query: &str) -> String {
    layout::found(query, &search::search(pages(), query))
}

/// Every file of the site, by its path below [`ROOT`].
pub fn files() -> Vec<(String, String)> {
    let mut files = vec![("index.html".to_owned(), home()), ("style.css".to_owned(), STYLE.to_owned())];
    let pages = pages().iter().map(|page| (format!("{}/index.html", page.slug), layout::page(page)));
    files.extend(pages);
    files.extend(contents::IMAGES.iter().map(|(name, text)| (format!("images/{name}"), (*text).to_owned())));
    files
}
