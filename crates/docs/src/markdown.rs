//! Markdown to HTML: headings get ids, links between files become links between pages.

use crate::ROOT;
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// A part of a page under one heading.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) level: HeadingLevel,
    /// Of the heading, as links name it.
    pub(crate) id: String,
    pub(crate) title: String,
    /// The text under it up to the next heading, for the search.
    pub(crate) text: String,
}

pub(crate) struct Rendered {
    pub(crate) html: String,
    pub(crate) parts: Vec<Part>,
}

/// Renders a file of `docs/`.
pub(crate) fn render(text: &str) -> Rendered {
    let mut events: Vec<Event> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    let parts = parts(&events);
    let mut ids = parts.iter().map(|part| part.id.clone());
    for event in &mut events {
        match event {
            Event::Start(Tag::Heading { id, .. }) => *id = ids.next().map(CowStr::from),
            Event::Start(Tag::Link { dest_url, .. }) => *dest_url = target(dest_url).into(),
            _ => {}
        }
    }
    let mut out = String::new();
    html::push_html(&mut out, with_pictures(events));
    Rendered { html: scrollable_tables(&out), parts }
}

/// A wide table scrolls by itself, and the page does not.
fn scrollable_tables(html: &str) -> String {
    html.replace("<table>", "<div class=\"scroll\" tabindex=\"0\"><table>")
        .replace("</table>", "</table></div>")
}

/// Diagrams are shown. Screenshots are large and stay in the repository; their description links to them.
fn with_pictures(events: Vec<Event>) -> impl Iterator<Item = Event> {
    let mut is_shown = false;
    events.into_iter().map(move |event| match event {
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let dest_url: CowStr = target(&dest_url).into();
            is_shown = dest_url.starts_with(ROOT);
            if is_shown {
                return Event::Start(Tag::Image { link_type, dest_url, title, id });
            }
            Event::InlineHtml(format!("<a class=\"picture\" href=\"{dest_url}\">").into())
        }
        Event::End(TagEnd::Image) if !is_shown => Event::InlineHtml("</a>".into()),
        other => other,
    })
}

fn parts(events: &[Event]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut in_heading = false;
    for event in events {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                in_heading = true;
                let (title, text) = (String::new(), String::new());
                parts.push(Part { level: *level, id: String::new(), title, text });
            }
            Event::End(TagEnd::Heading(_)) => {
                in_heading = false;
                let used = parts.len().saturating_sub(1);
                let id = parts.last().map(|part| unused(&anchor(&part.title), &parts[..used]));
                if let (Some(part), Some(id)) = (parts.last_mut(), id) {
                    part.id = id;
                }
            }
            Event::Text(text) | Event::Code(text) => add(&mut parts, text, in_heading),
            Event::SoftBreak | Event::HardBreak | Event::End(_) => add(&mut parts, " ", in_heading),
            _ => {}
        }
    }
    parts
}

fn add(parts: &mut [Part], text: &str, in_heading: bool) {
    if let Some(part) = parts.last_mut() {
        let to = if in_heading { &mut part.title } else { &mut part.text };
        to.push_str(text);
    }
}

/// As forges make it: small letters, no punctuation, a hyphen for each blank.
fn anchor(title: &str) -> String {
    let kept: String = title.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect();
    kept.to_lowercase().replace(' ', "-")
}

/// The second heading of a name gets a number.
fn unused(id: &str, parts: &[Part]) -> String {
    let is_used = |id: &str| parts.iter().any(|part| part.id == id);
    if !is_used(id) {
        return id.to_owned();
    }
    (1..=parts.len()).map(|n| format!("{id}-{n}")).find(|id| !is_used(id)).unwrap_or_else(|| id.to_owned())
}

/// Where a link of a file in `docs/` leads on the site; files that are not on it are in the repository.
fn target(link: &str) -> String {
    let (path, part) = link.split_once('#').map_or((link, None), |(path, part)| (path, Some(part)));
    let part = part.map(|part| format!("#{part}")).unwrap_or_default();
    if path.is_empty() || path.contains("://") || path.starts_with('/') {
        return link.to_owned();
    }
    if let Some(slug) = path.strip_suffix(".md").filter(|slug| !slug.contains('/')) {
        return format!("{ROOT}{slug}{part}");
    }
    if path.starts_with("images/") && path.ends_with(".svg") {
        return format!("{ROOT}{path}");
    }
    let from_root = path.strip_prefix("../").map_or_else(|| format!("docs/{path}"), str::to_owned);
    format!("{}/blob/main/{from_root}{part}", env!("CARGO_PKG_REPOSITORY"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_parts_and_the_repository() {
        let repository = env!("CARGO_PKG_REPOSITORY");
        let check = |link: &str, expected: &str| assert_eq!(target(link), expected, "{link}");
        check("operating.md", "/docs/operating");
        check("operating.md#durability", "/docs/operating#durability");
        check("#here", "#here");
        check("https://example.com/a.md", "https://example.com/a.md");
        check("../crates/core/src/lib.rs", &format!("{repository}/blob/main/crates/core/src/lib.rs"));
        check("../README.md#promises", &format!("{repository}/blob/main/README.md#promises"));
        check("images/a.svg", "/docs/images/a.svg");
        check("images/a.png", &format!("{repository}/blob/main/docs/images/a.png"));
        check("design/a.md", &format!("{repository}/blob/main/docs/design/a.md"));
    }

    #[test]
    fn diagrams_are_shown_and_screenshots_are_linked() {
        let html = render("![One *way*.](images/a.svg) ![A page](images/b.png)\n").html;
        assert!(html.contains("<img src=\"/docs/images/a.svg\" alt=\"One way.\" />"), "{html}");
        assert!(
            html.contains("/docs/images/b.png\">A page</a>") && html.matches("<img").count() == 1,
            "{html}"
        );
    }

    #[test]
    fn headings_have_ids_and_the_text_under_them() {
        let rendered = render("# A `b`, c\nOne *two*.\n## Same\nx\n## Same\n| a |\n|---|\n| `y` |\n");
        let ids: Vec<&str> = rendered.parts.iter().map(|part| part.id.as_str()).collect();
        assert_eq!(ids, ["a-b-c", "same", "same-1"]);
        assert_eq!(rendered.parts[0].text.split_whitespace().collect::<Vec<_>>(), ["One", "two", "."]);
        assert!(rendered.parts[2].text.contains('y'));
        assert!(rendered.html.contains("<h2 id=\"same-1\">Same</h2>"), "{}", rendered.html);
        assert!(rendered.html.contains("<div class=\"scroll\" tabindex=\"0\"><table>"), "{}", rendered.html);
    }
}
