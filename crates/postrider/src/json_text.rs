//! JSON as text: with its lines apart for people, or without blanks. All else is as it came: numbers keep their digits,
//! names that are there twice are there twice, and texts keep their escapes, none of which a parsed value has kept.

use serde::de::IgnoredAny;

/// What is deeper stays as it came: its lines would be mostly blanks. As deep as serde_json reads a value.
const DEPTH_MAX: usize = 127;

/// With its lines apart. `None` when it is no JSON, or deeper than can be read.
pub(crate) fn laid_out(text: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let token = &rest[..token_bytes(rest)];
        rest = &rest[token.len()..];
        match first {
            '{' | '[' if closes_at_once(rest) => out.push_str(token),
            '{' | '[' => {
                depth += 1;
                out.push_str(token);
                break_line(&mut out, depth);
            }
            '}' | ']' if out.ends_with(['{', '[']) => out.push_str(token),
            '}' | ']' => {
                depth -= 1;
                break_line(&mut out, depth);
                out.push_str(token);
            }
            ',' => {
                out.push_str(token);
                break_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            blank if blank.is_ascii_whitespace() => {}
            _ => out.push_str(token),
        }
        if depth > DEPTH_MAX {
            return None;
        }
    }
    Some(out)
}

/// JSON without the space between its parts.
pub(crate) fn compact(json: &str) -> String {
    let mut compact = String::with_capacity(json.len());
    let (mut in_text, mut escaped) = (false, false);
    for letter in json.chars() {
        if in_text || !letter.is_ascii_whitespace() {
            compact.push(letter);
        }
        in_text = match letter {
            '"' if !escaped => !in_text,
            _ => in_text,
        };
        escaped = in_text && letter == '\\' && !escaped;
    }
    compact
}

fn closes_at_once(rest: &str) -> bool {
    rest.trim_ascii_start().starts_with(['}', ']'])
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// A text with its quotes, a number or a word up to what ends it, or one sign. The text is JSON.
fn token_bytes(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes[0] {
        b'"' => {
            let mut end = 1;
            while bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            end + 1
        }
        b'{' | b'}' | b'[' | b']' | b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => 1,
        _ => bytes.iter().position(|byte| b"{}[],: \t\n\r".contains(byte)).unwrap_or(bytes.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn lines_are_apart_and_values_as_they_came() {
        for (given, expected) in [
            (r#"{"a":1,"b":[]}"#, "{\n  \"a\": 1,\n  \"b\": []\n}"),
            ("[ 1 , [ { } ] ]", "[\n  1,\n  [\n    {}\n  ]\n]"),
            ("12345678901234567890123", "12345678901234567890123"),
            (" [10.00,1E5,-0.0] ", "[\n  10.00,\n  1E5,\n  -0.0\n]"),
            (r#"{"a":1,"a":2}"#, "{\n  \"a\": 1,\n  \"a\": 2\n}"),
            (r#"["\u00e9\"\\","{[,:"]"#, "[\n  \"\\u00e9\\\"\\\\\",\n  \"{[,:\"\n]"),
            ("1e999", "1e999"),
        ] {
            assert_eq!(laid_out(given).as_deref(), Some(expected), "{given}");
        }
    }

    #[test]
    fn what_is_no_json_or_too_deep_is_left_alone() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for text in ["", "{", "{} {}", "nul", "'a'", "[1,]", "\u{feff}1", &deep(200_000)] {
            assert_eq!(laid_out(text), None, "{}", &text[..text.len().min(20)]);
        }
        assert!(laid_out(&deep(100)).is_some());
    }

    /// JSON as senders write it, with blanks anywhere between its parts.
    fn json() -> impl Strategy<Value = String> {
        let blank = || "[ \t\r\n]{0,2}";
        let number = "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,2})?";
        let text = any::<String>().prop_map(|text| Value::String(text).to_string());
        let leaf = prop_oneof![number, text.clone(), Just("null".to_owned()), Just("true".to_owned())];
        leaf.prop_recursive(5, 40, 5, move |inner| {
            let spaced = (blank(), inner, blank())
                .prop_map(|(before, value, after)| format!("{before}{value}{after}"));
            let named = (blank(), text.clone(), blank(), spaced.clone())
                .prop_map(|(before, name, after, value)| format!("{before}{name}{after}:{value}"));
            prop_oneof![
                (blank(), prop::collection::vec(spaced, 1..5))
                    .prop_map(|(_, items)| format!("[{}]", items.join(","))),
                prop::collection::vec(named, 1..5).prop_map(|items| format!("{{{}}}", items.join(","))),
                blank().prop_map(|blank| format!("[{blank}]")),
                blank().prop_map(|blank| format!("{{{blank}}}")),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_laid_out_means_the_same_and_has_every_sign_that_it_had(text in json()) {
            let spread = laid_out(&text).expect("it is JSON");
            let value: Value = serde_json::from_str(&text).expect("it is JSON");
            prop_assert_eq!(serde_json::from_str::<Value>(&spread).expect("it still is"), value);
            prop_assert_eq!(compact(&spread), compact(&text));
            prop_assert_eq!(laid_out(&spread), Some(spread.clone()), "once more changes nothing");
        }

        #[test]
        fn any_text_is_laid_out_or_left_alone(text in any::<String>()) {
            prop_assert_eq!(laid_out(&text).is_some(), serde_json::from_str::<IgnoredAny>(&text).is_ok());
        }
    }
}
