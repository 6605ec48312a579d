//! Where in a text an expression is wrong, and the parser's words for it made plain.

use super::check::Fault;
use super::{BadExpression, PARSER_DEPTH_MAX};
use cel::ParseErrors;
use cel::common::ast::SourceInfo;

/// Longest part of a text that a sentence quotes.
const QUOTED_CHARS_MAX: usize = 60;

/// The first of a parser's errors: the others mostly follow from it.
pub(super) fn plain(errors: &ParseErrors) -> BadExpression {
    let too_deep = |message: &str| message.contains("Recursion limit");
    let deep = errors.errors.iter().find(|error| too_deep(&error.msg));
    let Some(first) = deep.or(errors.errors.first()) else {
        return BadExpression { line: 1, column: 1, sentence: "it cannot be understood".into() };
    };
    let (line, column) = first.pos;
    let from_one = |number: isize| usize::try_from(number).unwrap_or(1).max(1);
    let sentence = if too_deep(&first.msg) {
        format!("it is nested deeper than {PARSER_DEPTH_MAX} levels")
    } else {
        reworded(&first.msg)
    };
    BadExpression { line: from_one(line), column: from_one(column), sentence }
}

/// The grammar's words say what it expected in terms of its own.
fn reworded(message: &str) -> String {
    let message = message.trim_start_matches("Syntax error: ");
    let unexpected = ["mismatched input ", "extraneous input ", "no viable alternative at input "];
    let found = unexpected.iter().find_map(|known| message.strip_prefix(known));
    if let Some(found) = found {
        let found = found.rsplit_once(" expecting ").map_or(found, |(found, _)| found);
        return match found {
            "'<EOF>'" => "it ends too early".into(),
            found => format!("{} is not expected here", quotable(found)),
        };
    }
    match message.strip_prefix("token recognition error at: ") {
        Some(found) => format!("{} is not valid in an expression", quotable(found)),
        None => quotable(message),
    }
}

/// One line of bounded length, since it goes into one sentence.
pub(super) fn quotable(text: &str) -> String {
    let printable = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut short: String = printable.take(QUOTED_CHARS_MAX).collect();
    if text.chars().count() > QUOTED_CHARS_MAX {
        short.push('…');
    }
    short
}

/// Where a part of the tree was written; the beginning where that is not known.
pub(super) fn locate(text: &str, places: &SourceInfo, fault: Fault) -> BadExpression {
    let offset = places.offset_for(fault.part).map_or(0, |(start, _)| start as usize);
    let before: String = text.chars().take(offset).collect();
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    BadExpression { line, column, sentence: fault.sentence }
}
