//! Search over the parts of all pages. They are few enough to be read at each query.

use crate::page::Page;

/// A query has no more words than this; what follows is ignored.
const WORDS_MAX: usize = 8;
/// Longer words are in no page.
const WORD_BYTES_MAX: usize = 64;
/// Results on the page.
const RESULTS_MAX: usize = 20;
/// Characters of text beside the first word that was found.
const EXCERPT_CHARS: usize = 160;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) page: String,
    pub(crate) title: String,
    pub(crate) link: String,
    pub(crate) excerpt: String,
}

/// The parts that have every word, those with the words in their headings first.
pub(crate) fn search(pages: &[Page], query: &str) -> Vec<Hit> {
    let words = query.split_whitespace().take(WORDS_MAX);
    let words: Vec<String> =
        words.filter(|word| word.len() <= WORD_BYTES_MAX).map(str::to_lowercase).collect();
    if words.is_empty() {
        return vec![];
    }
    let mut hits: Vec<(usize, Hit)> = Vec::new();
    for page in pages {
        let page_title = page.title.to_lowercase();
        for (part, (title, text)) in page.parts.iter().zip(&page.searchable) {
            let is_in = |place: &str, word: &String| place.contains(word.as_str());
            if !words.iter().all(|word| is_in(title, word) || is_in(text, word) || is_in(&page_title, word)) {
                continue;
            }
            let in_title = words.iter().filter(|word| is_in(title, word)).count();
            let uses: usize = words.iter().map(|word| text.matches(word.as_str()).take(5).count()).sum();
            let hit = Hit {
                page: page.title.clone(),
                title: part.title.clone(),
                link: format!("{}{}#{}", crate::ROOT, page.slug, part.id),
                excerpt: excerpt(&part.text, &words[0]),
            };
            hits.push((in_title * 10 + uses, hit));
        }
    }
    hits.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    hits.into_iter().map(|(_, hit)| hit).take(RESULTS_MAX).collect()
}

/// The text around the first place of the word, or its beginning.
fn excerpt(text: &str, word: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|one| one.to_lowercase().contains(word)).unwrap_or(0);
    let from = at.saturating_sub(8);
    let mut excerpt = String::from(if from > 0 { "… " } else { "" });
    for one in &words[from..] {
        if excerpt.chars().count() + one.chars().count() + 1 >= EXCERPT_CHARS {
            excerpt.push('…');
            break;
        }
        excerpt.push_str(one);
        excerpt.push(' ');
    }
    excerpt.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(query: &str) -> Vec<String> {
        let pages = [
            Page::new("one", "# One\nBoth words: retry and circuit.\n## Retry policies\nDelays.\n"),
            Page::new("two", "# Two\nThe Circuit opens.\n"),
        ];
        search(&pages, query).into_iter().map(|hit| hit.link).collect()
    }

    #[test]
    fn parts_with_every_word_are_found_headings_first() {
        assert_eq!(links("retry"), ["/docs/one#retry-policies", "/docs/one#one"]);
        assert_eq!(links("CIRCUIT retry"), ["/docs/one#one"]);
        assert_eq!(links("circuit"), ["/docs/one#one", "/docs/two#two"]);
        assert!(links("  ").is_empty() && links("nowhere").is_empty());
        assert!(links(&"a".repeat(10_000)).is_empty());
    }

    #[test]
    fn an_excerpt_is_short_and_around_the_word() {
        let text = format!("{} needle {}", "before ".repeat(100), "after ".repeat(100));
        let said = excerpt(&text, "needle");
        assert!(said.starts_with("… before") && said.contains("needle after"), "{said}");
        assert!(said.chars().count() <= EXCERPT_CHARS, "{said}");
    }
}
