//! Looks through a transform: what it spells out of the body and the headers, before there is an event.

use super::check::{Checker, Fault, choice, fault, is_message, text_literal, usable};
use super::kind::Kind;
use crate::send::passed_on;
use cel::common::ast::{EntryExpr, Expr, IdedEntryExpr, IdedExpr, MapEntryExpr};

type Checked = Result<(), Fault>;

/// What a name of a field may be.
const NAMES: [Kind; 4] = [Kind::Text, Kind::Int, Kind::UInt, Kind::Bool];
/// What a header may be.
const VALUES: [Kind; 5] = [Kind::Text, Kind::Int, Kind::UInt, Kind::Bool, Kind::Null];

impl Checker {
    pub(super) fn message(&mut self, tree: &IdedExpr) -> Checked {
        match &tree.expr {
            Expr::Call(call) if let Some(parts) = choice(call) => self.branches(tree, parts, Self::message),
            Expr::Map(map) if is_message(map) => self.nested(tree, |checker| {
                map.entries.iter().try_for_each(|entry| {
                    let entry = plain_entry(tree, entry)?;
                    match text_literal(&entry.key) {
                        Some("headers") => checker.headers(&entry.value),
                        _ => checker.written(&entry.value),
                    }
                })
            }),
            _ => self.written(tree),
        }
    }

    fn branches(
        &mut self,
        part: &IdedExpr,
        [condition, yes, no]: [&IdedExpr; 3],
        branch: impl Fn(&mut Self, &IdedExpr) -> Checked,
    ) -> Checked {
        self.nested(part, |checker| {
            checker.expect(condition, &[Kind::Bool])?;
            branch(checker, yes)?;
            branch(checker, no)
        })
    }

    /// A part of the body. What is spelled out is written as it is evaluated, so it weighs nothing by itself.
    fn written(&mut self, part: &IdedExpr) -> Checked {
        match &part.expr {
            Expr::Call(call) if let Some(parts) = choice(call) => self.branches(part, parts, Self::written),
            Expr::Map(map) => self.nested(part, |checker| {
                map.entries.iter().try_for_each(|entry| {
                    let entry = plain_entry(part, entry)?;
                    checker.expect(&entry.key, &NAMES)?;
                    checker.written(&entry.value)
                })
            }),
            Expr::List(list) if list.optional_indices.is_empty() => {
                self.nested(part, |checker| list.elements.iter().try_for_each(|part| checker.written(part)))
            }
            Expr::List(_) => fault(part, "this is not allowed here"),
            _ => self.kind(part).map(drop),
        }
    }

    fn headers(&mut self, part: &IdedExpr) -> Checked {
        match &part.expr {
            Expr::Call(call) if let Some(parts) = choice(call) => self.branches(part, parts, Self::headers),
            Expr::Map(map) => self.nested(part, |checker| {
                map.entries.iter().try_for_each(|entry| {
                    let entry = plain_entry(part, entry)?;
                    checker.header_name(&entry.key)?;
                    checker.header_value(&entry.value)
                })
            }),
            // Every field is looked at before there are known to be too many.
            _ => self.expect(part, &[Kind::Map]).map(|map| self.spend_copy(map)),
        }
    }

    fn header_name(&mut self, key: &IdedExpr) -> Checked {
        self.expect(key, &NAMES)?;
        match text_literal(key) {
            Some(name) => passed_on(name).map(drop).or_else(|refused| fault(key, refused)),
            None => Ok(()),
        }
    }

    fn header_value(&mut self, part: &IdedExpr) -> Checked {
        if let Expr::Call(call) = &part.expr
            && let Some(parts) = choice(call)
        {
            return self.branches(part, parts, Self::header_value);
        }
        let seen = self.kind(part)?;
        usable(part, seen, &VALUES)
    }
}

fn plain_entry<'e>(map: &IdedExpr, entry: &'e IdedEntryExpr) -> Result<&'e MapEntryExpr, Fault> {
    match &entry.expr {
        EntryExpr::MapEntry(entry) if !entry.optional => Ok(entry),
        _ => fault(map, "this is not allowed here"),
    }
}
