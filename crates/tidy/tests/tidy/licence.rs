//! Whether a licence expression (SPDX, and the older form with `/`) can be met by licences of a list.

/// `AND` asks for both sides, `OR` and `/` for one; an exception (`WITH`) only adds to what is allowed.
pub(super) fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest, allowed) && rest.is_empty()
}

fn any_of(rest: &mut &[&str], allowed: &[&str]) -> bool {
    let mut met = all_of(rest, allowed);
    while take(rest, "OR") {
        met |= all_of(rest, allowed);
    }
    met
}

fn all_of(rest: &mut &[&str], allowed: &[&str]) -> bool {
    let mut met = one(rest, allowed);
    while take(rest, "AND") {
        met &= one(rest, allowed);
    }
    met
}

fn one(rest: &mut &[&str], allowed: &[&str]) -> bool {
    if take(rest, "(") {
        let met = any_of(rest, allowed);
        return take(rest, ")") && met;
    }
    let Some((licence, more)) = rest.split_first() else { return false };
    *rest = more;
    if take(rest, "WITH") {
        *rest = rest.get(1..).unwrap_or_default();
    }
    allowed.contains(licence)
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    let Some((_, more)) = rest.split_first().filter(|(first, _)| **first == word) else { return false };
    *rest = more;
    true
}

#[test]
fn an_expression_is_met_as_its_words_say() {
    let check = |expression: &str, met: bool| {
        assert_eq!(is_allowed(expression, &["MIT", "ISC"]), met, "{expression:?}");
    };
    for met in
        ["MIT", "GPL-3.0 OR MIT", "GPL-3.0/MIT", "MIT AND ISC", "(GPL-3.0 OR MIT) AND ISC", "MIT WITH x"]
    {
        check(met, true);
    }
    for not in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "MIT)", "GPL-3.0 OR (MIT AND GPL-3.0)", "MIT ISC"] {
        check(not, false);
    }
}
