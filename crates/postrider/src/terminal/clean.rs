//! Text that others wrote, made fit for a terminal. An escape sequence in a body could otherwise rename the window,
//! move the cursor over what was printed, or answer in place of the person; a bidirectional mark could turn around
//! what is read.

use std::fmt::Write as _;

/// On one line: whatever is not to be printed is written as Rust would write it.
pub(crate) fn clean(text: &str) -> String {
    escaped(text, |_| false, |character| character.escape_default().to_string())
}

/// The same with its line breaks and tabs as they are.
pub(crate) fn clean_lines(text: &str) -> String {
    escaped(
        text,
        |character| matches!(character, '\n' | '\t'),
        |character| character.escape_default().to_string(),
    )
}

/// JSON with what JSON itself lets through, DEL and the controls above ASCII among it, in its own escapes.
pub(crate) fn json(text: &str) -> String {
    escaped(
        text,
        |character| character == '\n',
        |character| {
            let mut units = [0; 2];
            let mut escape = String::new();
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(escape, "\\u{unit:04x}");
            }
            escape
        },
    )
}

fn escaped(text: &str, stays: impl Fn(char) -> bool, escape: impl Fn(char) -> String) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        if steers(character) && !stays(character) {
            clean.push_str(&escape(character));
        } else {
            clean.push(character);
        }
    }
    clean
}

/// Controls, and what changes the direction, the place or the breaks of text without being seen.
pub(crate) fn steers(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_is_left() {
        let hostile = "a\x1b]0;title\x07b\u{9b}31mc\u{202e}d\x7fe\r\nf\tg";
        assert_eq!(clean(hostile), r"a\u{1b}]0;title\u{7}b\u{9b}31mc\u{202e}d\u{7f}e\r\nf\tg");
        assert_eq!(clean_lines("a\r\nb\tc\x1b"), "a\\r\nb\tc\\u{1b}");
        assert_eq!(clean("größer 😀"), "größer 😀");
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({ "a\u{9b}": "x\x1b\u{7f}\u{202e}\u{e0001}\n" });
        let text = json(&format!("{value:#}"));
        assert!(!text.chars().any(|character| steers(character) && character != '\n'), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("it is JSON"), value);
    }
}
