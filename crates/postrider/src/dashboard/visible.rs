//! Characters that steer how text is shown without being seen (bidirectional marks, escape sequences) made visible, on every
//! page as it was made: a name must not turn around what stands beside it, and what is copied must be what was read.

use crate::terminal::steers;
use std::fmt::Write as _;

/// Whether a page shows a character by its number. Some scripts and emoji are joined by two of those that steer, and the
/// breaks of lines are seen.
pub(super) fn is_named(character: char) -> bool {
    steers(character) && !matches!(character, '\n' | '\r' | '\t' | '\u{200c}' | '\u{200d}')
}

/// The page with each of them as `\u{202e}`; in what a form sends they stay, written so that the page has none.
pub(super) fn visible(page: String) -> String {
    if !page.contains(is_named) {
        return page;
    }
    let mut shown = String::with_capacity(page.len() + page.len() / 8);
    let (mut rest, mut write): (_, fn(&mut String, char)) = (page.as_str(), named);
    // Text from outside has no `<` and no quotes on a page, so tags are those of our templates.
    while !rest.is_empty() {
        let (text, behind) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        push(&mut shown, text, write);
        let (tag, behind) = behind.split_at(behind.find('>').map_or(behind.len(), |end| end + 1));
        push_tag(&mut shown, tag);
        write = if tag.starts_with("<textarea") { referred } else { named };
        rest = behind;
    }
    shown
}

/// The values of a tag stand between quotes.
fn push_tag(shown: &mut String, tag: &str) {
    let mut is_sent = false;
    for (place, part) in tag.split('"').enumerate() {
        if place > 0 {
            shown.push('"');
        }
        push(shown, part, if is_sent { referred } else { named });
        is_sent = place % 2 == 0 && part.ends_with(" value=");
    }
}

fn push(shown: &mut String, text: &str, write: fn(&mut String, char)) {
    let mut rest = text;
    while let Some(place) = rest.find(is_named) {
        shown.push_str(&rest[..place]);
        let mut behind = rest[place..].chars();
        behind.next().into_iter().for_each(|character| write(shown, character));
        rest = behind.as_str();
    }
    shown.push_str(rest);
}

fn named(shown: &mut String, character: char) {
    let _ = write!(shown, "{}", character.escape_unicode());
}

/// As a browser reads it back.
fn referred(shown: &mut String, character: char) {
    let _ = write!(shown, "&#x{:x};", u32::from(character));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_steers_is_shown_by_its_number_and_sent_as_it_is() {
        for (page, shown) in [
            ("<p>größer 😀 \u{5d0}</p>\n", "<p>größer 😀 \u{5d0}</p>\n"),
            ("<p>a\u{202e}b</p>", "<p>a\\u{202e}b</p>"),
            ("\u{1b}[31m\u{9b}\u{7f}", "\\u{1b}[31m\\u{9b}\\u{7f}"),
            (
                "\u{200e}\u{200f}\u{61c}\u{2066}\u{2069}\u{feff}",
                "\\u{200e}\\u{200f}\\u{61c}\\u{2066}\\u{2069}\\u{feff}",
            ),
            ("a\tb\r\nc \u{645}\u{200c}\u{62e} \u{200d}", "a\tb\r\nc \u{645}\u{200c}\u{62e} \u{200d}"),
            ("<a title=\"a\u{202e}\" href=\"/x\">b</a>", "<a title=\"a\\u{202e}\" href=\"/x\">b</a>"),
            (
                "<input name=\"n\" value=\"a\u{202e}\" title=\"\u{202e}\">",
                "<input name=\"n\" value=\"a&#x202e;\" title=\"\\u{202e}\">",
            ),
            (
                "<textarea name=\"n\">a\u{202e}</textarea>\u{202e}",
                "<textarea name=\"n\">a&#x202e;</textarea>\\u{202e}",
            ),
            ("<option value=\"\u{202e}\">\u{202e}</option>", "<option value=\"&#x202e;\">\\u{202e}</option>"),
            ("a < b \u{202e}", "a < b \\u{202e}"),
        ] {
            assert_eq!(visible(page.to_owned()), shown, "{page:?}");
        }
    }

    proptest! {
        #[test]
        fn no_page_has_one_left(page in any::<String>()) {
            prop_assert!(!visible(page).contains(is_named));
        }
    }
}
