//! Rust source as the checks see it: only code, with what comments and literals say blanked out, line by line
//! where it was. A full parser would cost more to build than all checks together.

use super::tree::Source;

/// A function with a body.
#[derive(Debug, PartialEq)]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    /// From 1.
    pub(super) line: usize,
    /// From the line with `fn` to the one with the closing brace.
    pub(super) lines: usize,
}

/// The text with comments and literals replaced by spaces; line breaks stay.
pub(super) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let in_identifier = code.ends_with(is_identifier);
        let opaque_bytes = opaque_bytes(rest, in_identifier);
        if opaque_bytes == 0 {
            code.push(next);
            rest = &rest[next.len_utf8()..];
        } else {
            code.extend(rest[..opaque_bytes].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[opaque_bytes..];
        }
    }
    code
}

/// The functions in what [`code_only`] gave, nested ones too.
///
/// A brace in a signature (`[u8; { N }]`) would be taken for the body; nothing here is written like that.
pub(super) fn functions(code: &str) -> Vec<Function<'_>> {
    let keywords = code.match_indices("fn ").filter(|(at, _)| !code[..*at].ends_with(is_identifier));
    keywords.filter_map(|(at, _)| function(code, at)).collect()
}

/// The line, from 1, at which the code for tests begins: the first for a file of tests, otherwise that of
/// `#[cfg(test)]` before a module with a body. `#[cfg(test)]` before anything else is of the file itself.
pub(super) fn tests_begin(source: &Source, code: &str) -> Option<usize> {
    if is_of_tests(&source.path) {
        return Some(1);
    }
    let lines: Vec<&str> = code.lines().map(str::trim_end).collect();
    let opens_tests = |at: &usize| {
        let item = lines[*at..].iter().find(|line| !line.starts_with("#["));
        lines[*at] == "#[cfg(test)]"
            && item.is_some_and(|item| item.starts_with("mod ") && item.ends_with('{'))
    };
    (0..lines.len()).find(opens_tests).map(|at| at + 1)
}

/// The conformance suite is compiled as a library, to be shared, but it is tests.
fn is_of_tests(path: &str) -> bool {
    path.split('/').any(|part| ["tests", "tests.rs", "conformance"].contains(&part))
}

pub(super) fn is_identifier(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn function(code: &str, at: usize) -> Option<Function<'_>> {
    let name = code[at + 3..].trim_start();
    let name = &name[..name.find(|c| !is_identifier(c) && c != '$')?];
    if name.is_empty() {
        return None;
    }
    let body = at + body_start(&code[at..])?;
    let end = body + closing_brace(&code[body..])?;
    let line = 1 + line_breaks(&code[..at]);
    Some(Function { name, line, lines: 1 + line_breaks(&code[at..end]) })
}

/// Where the body opens, or nothing if a semicolon ends the declaration first.
fn body_start(code: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, character) in code.char_indices() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' if depth == 0 => return Some(at),
            ';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Where the brace closes that the code starts with.
fn closing_brace(code: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, character) in code.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn line_breaks(text: &str) -> usize {
    text.matches('\n').count()
}

/// The length of the comment or literal that the text starts with, or 0. An `r` that ends an identifier does
/// not begin a raw string; `b` and `c` before a plain literal are left as code.
fn opaque_bytes(text: &str, in_identifier: bool) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return block_comment_bytes(text);
    }
    if text.starts_with('"') {
        return escaped_bytes(text, '"');
    }
    if text.starts_with('\'') {
        return character_bytes(text);
    }
    if in_identifier { 0 } else { raw_string_bytes(text) }
}

fn block_comment_bytes(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let pair = text.as_bytes().get(at..at + 2);
        match pair {
            Some(b"/*") => depth += 1,
            Some(b"*/") => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a literal up to the quote that no backslash precedes.
fn escaped_bytes(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A quote begins a character only if one character or an escape and a second quote follow; otherwise it begins a
/// lifetime.
fn character_bytes(text: &str) -> usize {
    let mut after = text.chars().skip(1);
    match (after.next(), after.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => escaped_bytes(text, '\''),
        _ => 0,
    }
}

fn raw_string_bytes(text: &str) -> usize {
    let Some(prefix) = ["r", "br", "cr"].iter().find(|prefix| text.starts_with(**prefix)) else { return 0 };
    let after = &text[prefix.len()..];
    let hashes = after.len() - after.trim_start_matches('#').len();
    if !after[hashes..].starts_with('"') {
        return 0;
    }
    let opening = prefix.len() + hashes + 1;
    let closing = format!("\"{}", "#".repeat(hashes));
    text[opening..].find(&closing).map_or(text.len(), |at| opening + at + closing.len())
}

#[test]
fn comments_and_literals_are_blank_and_the_rest_stays() {
    let check = |text: &str, code: &str| assert_eq!(code_only(text), code, "{text}");
    check("a // {\nb", "a     \nb");
    check("a /* { /* } */\n { */ b", "a             \n      b");
    check(r#"f("{ \" }", b"{")"#, "f(        , b   )");
    check(r##"(r"{\", r#"{"}"#, br"{")"##, "(     ,         ,      )");
    check(r"<'a>('{', '\'', '\u{7b}', b'{')", "<'a>(   ,     ,         , b   )");
    check(r#"for"{""#, "for   ");
    check("r#type", "r#type");
    check("\"ä\n\"é", "  \n é");
}

#[test]
fn functions_are_measured_from_their_signature_to_their_last_brace() {
    let code = code_only(
        "trait T { fn declared(&self) -> [u8; 2]; }\n\
         fn outer(\n    f: fn(u8),\n) -> [u8; 2] {\n    let s = \"}\";\n    fn inner() {}\n}\n\
         type F = fn (u8);\n",
    );
    let measured: Vec<_> =
        functions(&code).iter().map(|found| (found.name, found.line, found.lines)).collect();
    assert_eq!(measured, [("outer", 2, 6), ("inner", 6, 1)]);
}

#[test]
fn tests_begin_at_their_module_or_with_their_file() {
    let check = |path: &str, text: &str, line: Option<usize>| {
        assert_eq!(tests_begin(&Source::new(path, text), &code_only(text)), line, "{path}: {text}");
    };
    check("src/a.rs", "//! A.\n#[cfg(test)]\nmod tests;\n", None);
    check("src/a.rs", "//! A.\n#[cfg(test)]\nuse b;\n\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n}\n", Some(5));
    check("src/a/tests.rs", "//! A.\n", Some(1));
    check("tests/it/a.rs", "//! A.\n", Some(1));
    check("src/tests_of_patience.rs", "//! A.\n", None);
}
