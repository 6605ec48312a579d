//! The frame around a page: navigation, search, contents.

use crate::ROOT;
use crate::contents::SECTIONS;
use crate::page::Page;
use crate::search::Hit;
use std::fmt::Write as _;

pub(crate) fn home() -> String {
    let mut main = String::from(
        "<h1>Postrider documentation</h1>\n<p>Postrider is a webhook gateway in one binary. It accepts events over HTTP, \
         stores them on disk, and delivers each one to every matching destination at least once.</p>\n",
    );
    for section in SECTIONS {
        let _ = write!(main, "<h2>{}</h2>\n<p>{}</p>\n<ul>\n", section.title, section.purpose);
        for (slug, _) in section.pages {
            let _ = writeln!(main, "<li><a href=\"{ROOT}{slug}\">{}</a></li>", escaped(title_of(slug)));
        }
        main.push_str("</ul>\n");
    }
    main.push_str(
        "<p>Every operation of the API with its fields: <a href=\"/docs\">API reference</a>.</p>\n",
    );
    frame("Postrider documentation", "", "", &main)
}

pub(crate) fn page(page: &Page) -> String {
    let mut contents = String::new();
    for part in page.chapters() {
        let _ =
            writeln!(contents, "<li><a href=\"#{}\">{}</a></li>", escaped(&part.id), escaped(&part.title));
    }
    let aside = if contents.is_empty() {
        String::new()
    } else {
        format!(
            "<nav class=\"contents\" aria-label=\"On this page\"><p>On this page</p><ul>{contents}</ul></nav>"
        )
    };
    frame(&page.title, page.slug, &aside, &page.html)
}

pub(crate) fn found(query: &str, hits: &[Hit]) -> String {
    let mut main = format!("<h1>Search: {}</h1>\n", escaped(query));
    if hits.is_empty() {
        main.push_str("<p>No page has all of these words. Try fewer or shorter ones.</p>\n");
    }
    for hit in hits {
        let _ = writeln!(
            main,
            "<p><a href=\"{}\"><strong>{}</strong></a> in {}<br>{}</p>",
            escaped(&hit.link),
            escaped(&hit.title),
            escaped(&hit.page),
            escaped(&hit.excerpt)
        );
    }
    frame_with_query("Search", "", "", &main, query)
}

pub(crate) fn not_found() -> String {
    let main = "<h1>Page not found</h1>\n<p>There is no page at this address. Choose one from the list, or search.</p>\n";
    frame("Page not found", "", "", main)
}

fn frame(title: &str, current: &str, aside: &str, main: &str) -> String {
    frame_with_query(title, current, aside, main, "")
}

/// The frame with what was searched for in the search field.
fn frame_with_query(title: &str, current: &str, aside: &str, main: &str, query: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{} · Postrider</title>\n<link rel=\"stylesheet\" href=\"{ROOT}style.css\">\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the page</a>\n\
         <header><a class=\"brand\" href=\"{ROOT}\">Postrider docs</a>\n\
         <form action=\"{ROOT}search\" role=\"search\"><input type=\"search\" name=\"q\" aria-label=\"Search the docs\" \
         placeholder=\"Search\" value=\"{}\" required maxlength=\"200\"><button>Search</button></form></header>\n\
         <div class=\"columns\">\n<nav class=\"site\" aria-label=\"Pages\">{}</nav>\n\
         <main id=\"main\">\n{main}</main>\n{aside}\n</div>\n</body>\n</html>\n",
        escaped(title),
        escaped(query),
        navigation(current)
    )
}

fn navigation(current: &str) -> String {
    let mut html = String::new();
    for section in SECTIONS {
        let _ = write!(html, "<p>{}</p><ul>", section.title);
        for (slug, _) in section.pages {
            let mark = if *slug == current { " aria-current=\"page\"" } else { "" };
            let _ = write!(html, "<li><a href=\"{ROOT}{slug}\"{mark}>{}</a></li>", escaped(title_of(slug)));
        }
        html.push_str("</ul>");
    }
    html.push_str("<p>API</p><ul><li><a href=\"/docs\">API reference</a></li></ul>");
    html
}

fn title_of(slug: &str) -> &str {
    crate::pages().iter().find(|page| page.slug == slug).map_or(slug, |page| &page.title)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_searched_for_is_shown_as_text() {
        let page = crate::search("<script>\"&");
        assert!(page.contains("Search: &lt;script&gt;&quot;&amp;</h1>"), "{page}");
        assert!(!page.contains("<script"), "{page}");
    }

    #[test]
    fn links_between_pages_lead_to_a_part_that_is_there() {
        let pages = crate::pages();
        let is_there = |link: &str| {
            let (slug, part) = link.split_once('#').map_or((link, None), |(slug, part)| (slug, Some(part)));
            let page = pages.iter().find(|page| page.slug == slug);
            page.is_some_and(|page| part.is_none_or(|id| page.parts.iter().any(|part| part.id == id)))
        };
        let mut links = 0;
        for page in pages {
            for link in page.html.split("href=\"/docs/").skip(1).filter_map(|rest| rest.split('"').next()) {
                assert!(is_there(link), "{}: nothing is at {link}", page.slug);
                links += 1;
            }
        }
        assert!(links > 50, "{links} links between {} pages", pages.len());
    }

    #[test]
    fn every_diagram_that_a_page_shows_is_served() {
        let shown =
            crate::pages().iter().flat_map(|page| page.html.split("<img src=\"/docs/images/").skip(1));
        let names: Vec<&str> = shown.filter_map(|rest| rest.split('"').next()).collect();
        assert!(!names.is_empty());
        for name in names {
            assert!(crate::image(name).is_some(), "{name} is not served");
        }
    }

    #[test]
    fn no_page_has_a_script_or_anything_of_another_host() {
        for (path, text) in crate::files() {
            for foreign in [
                "<script",
                "<img src=\"http",
                "<iframe",
                "style=\"",
                "javascript:",
                "<link rel=\"stylesheet\" href=\"http",
            ] {
                assert!(!text.contains(foreign), "{path} has {foreign}");
            }
        }
    }
}
