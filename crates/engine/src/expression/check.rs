//! Looks through an expression before it is ever evaluated: names, functions, types, depth, loops.

use super::cost::{self, Bound, Extent};
use super::kind::Kind;
use super::position::quotable;
use super::seen::{Seen, call_work, literal, name_units};
use super::{DEPTH_MAX, WORK_MAX, Wants};
use crate::body_measure::BodyMeasure;
use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedEntryExpr, IdedExpr, LiteralValue, MapExpr, SelectExpr,
    operators,
};

/// What is wrong with which part of the tree.
pub(super) struct Fault {
    pub(super) part: u64,
    pub(super) sentence: String,
}

/// What evaluating it needs and costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    pub(super) mentions_payload: bool,
    pub(super) work: Bound,
}

pub(super) fn check(tree: &IdedExpr, wants: Wants) -> Result<Outline, Fault> {
    let mut checker = Checker::default();
    match wants {
        Wants::Message => checker.message(tree)?,
        _ => checker.serves(tree, wants)?,
    }
    let outline = checker.outline;
    if outline.work.at(BodyMeasure::default()) > WORK_MAX {
        return fault(tree, "it is too much work for any body");
    }
    // A key that is there for small bodies and not for large ones would keep no order.
    if wants == Wants::Key && outline.work.at(BodyMeasure::largest()) > WORK_MAX {
        return fault(tree, "it is too much work for the largest body, as a key must not be");
    }
    Ok(outline)
}

/// The text that a part is, if it is spelled out.
pub(super) fn text_literal(part: &IdedExpr) -> Option<&str> {
    match &part.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}

/// Whether a map is a message: it is spelled out with `body` and `headers` and nothing else.
pub(super) fn is_message(map: &MapExpr) -> bool {
    let known = |entry: &IdedEntryExpr| match &entry.expr {
        EntryExpr::MapEntry(entry) => matches!(text_literal(&entry.key), Some("body" | "headers")),
        EntryExpr::StructField(_) => false,
    };
    !map.entries.is_empty() && map.entries.iter().all(known)
}

const FUNCTIONS: &str = "size, contains, startsWith, endsWith, string, int, uint, double, bool, bytes, dyn, type, \
                         has, all, exists, exists_one, map and filter";
const TYPES: [&str; 10] =
    ["bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type"];
const NUMBERS: [Kind; 3] = [Kind::Int, Kind::UInt, Kind::Double];
const ADDABLE: [Kind; 6] = [Kind::Int, Kind::UInt, Kind::Double, Kind::Text, Kind::Bytes, Kind::List];

#[derive(Default)]
pub(super) struct Checker {
    outline: Outline,
    depth: usize,
    /// Variables of the loop around this part, with what is known of them.
    variables: Vec<(String, Seen)>,
    in_loop: bool,
}

pub(super) type Found = Result<Seen, Fault>;

/// The three parts of `condition ? yes : no`.
pub(super) fn choice(call: &CallExpr) -> Option<[&IdedExpr; 3]> {
    match (call.func_name.as_str(), &call.args[..]) {
        (operators::CONDITIONAL, [condition, yes, no]) => Some([condition, yes, no]),
        _ => None,
    }
}

pub(super) fn fault<T>(part: &IdedExpr, sentence: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { part: part.id, sentence: sentence.into() })
}

pub(super) fn usable(part: &IdedExpr, Seen { kind, .. }: Seen, any: &[Kind]) -> Result<(), Fault> {
    if kind.may_be(any) { Ok(()) } else { fault(part, format!("{kind} cannot be used like this")) }
}

impl Checker {
    /// Of a choice, each branch must serve.
    fn serves(&mut self, tree: &IdedExpr, wants: Wants) -> Result<(), Fault> {
        if let Expr::Call(call) = &tree.expr
            && let Some([condition, yes, no]) = choice(call)
        {
            return self.nested(tree, |checker| {
                checker.expect(condition, &[Kind::Bool])?;
                checker.serves(yes, wants)?;
                checker.serves(no, wants)
            });
        }
        let Seen { kind, .. } = if wants == Wants::Key { self.key_part(tree)? } else { self.kind(tree)? };
        let literal_ok = match &tree.expr {
            Expr::Literal(LiteralValue::Int(number)) if wants == Wants::Priority => {
                (1..=4).contains(number.inner())
            }
            _ => true,
        };
        if kind.may_serve(wants) && literal_ok {
            return Ok(());
        }
        let given = if literal_ok { kind.to_string() } else { "another number".into() };
        fault(tree, format!("this gives {given}, but must give {}", wants.describe()))
    }

    pub(super) fn nested<T>(
        &mut self,
        part: &IdedExpr,
        look: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.depth == DEPTH_MAX {
            return fault(part, format!("it is nested deeper than {DEPTH_MAX} levels"));
        }
        self.depth += 1;
        let found = look(self);
        self.depth -= 1;
        found
    }

    pub(super) fn kind(&mut self, part: &IdedExpr) -> Found {
        self.nested(part, |checker| checker.kind_of(part))
    }

    fn kind_of(&mut self, part: &IdedExpr) -> Found {
        self.spend(Bound::fixed(cost::PART));
        match &part.expr {
            Expr::Literal(known) => Ok(literal(known)),
            Expr::Ident(name) => self.variable(part, name),
            Expr::Select(select) => self.selected(part, select),
            Expr::Call(call) => self.called(part, call),
            Expr::Comprehension(around) => self.looped(part, around),
            Expr::List(list) => {
                let sum = |bulk, element| Ok(bulk + self.copied(element)?);
                let bulk = list.elements.iter().try_fold(Bound::ONE, sum)?;
                let items = Bound::count(list.elements.len());
                Ok(Seen::new(Kind::List, Extent::of_list(bulk, items)))
            }
            Expr::Map(map) => {
                let sum = |bulk, entry| Ok(bulk + self.entry(entry)?);
                let bulk = map.entries.iter().try_fold(Bound::fixed(cost::MAP), sum)?;
                self.spend(bulk);
                let items = Bound::count(map.entries.len());
                Ok(Seen::new(Kind::Map, Extent::of_list(bulk, items)))
            }
            Expr::Struct(_) | Expr::Unspecified => fault(part, "this is not allowed here"),
        }
    }

    fn spend(&mut self, work: Bound) {
        self.outline.work += work;
    }

    fn entry(&mut self, entry: &IdedEntryExpr) -> Result<Bound, Fault> {
        match &entry.expr {
            EntryExpr::MapEntry(entry) => Ok(self.copied(&entry.key)? + self.copied(&entry.value)?),
            EntryExpr::StructField(field) => fault(&field.value, "this is not allowed here"),
        }
    }

    /// A part of a list or a map may be as large as the body.
    fn copied(&mut self, part: &IdedExpr) -> Result<Bound, Fault> {
        let seen = self.kind(part)?;
        self.spend_copy(seen);
        Ok(seen.extent.bulk)
    }

    pub(super) fn spend_copy(&mut self, seen: Seen) {
        self.spend(seen.extent.bulk.copied());
    }

    fn variable(&mut self, part: &IdedExpr, name: &str) -> Found {
        if let Some((_, seen)) = self.variables.iter().rev().find(|(known, _)| known == name) {
            return Ok(*seen);
        }
        match name.trim_start_matches('.') {
            "event" => Ok(Seen::new(Kind::Map, Extent::of(Bound::fixed(cost::EVENT)))),
            "payload" | "headers" if self.in_loop => fault(
                part,
                "inside all, exists, exists_one, map and filter only their variable and event are known",
            ),
            "headers" => Ok(Seen::new(Kind::Map, Extent::of(Bound::fixed(cost::HEADERS)))),
            "payload" => {
                self.outline.mentions_payload = true;
                Ok(Seen::new(Kind::Unknown, Extent::OF_BODY))
            }
            name if TYPES.contains(&name) => Ok(Seen::plain(Kind::Unknown)),
            name => {
                fault(part, format!("{} is not known; there are event, headers and payload", quotable(name)))
            }
        }
    }

    fn selected(&mut self, part: &IdedExpr, select: &SelectExpr) -> Found {
        let Seen { kind: within, extent } = self.kind(&select.operand)?;
        if !within.may_be(&[Kind::Map]) {
            return fault(part, format!("{within} has no fields"));
        }
        self.spend(Bound::fixed(cost::SELECT + name_units(part)));
        let of = match &select.operand.expr {
            Expr::Ident(name) if self.variables.iter().all(|(known, _)| known != name) => name.as_str(),
            _ => "",
        };
        match (select.test, of, select.field.as_str()) {
            (_, "event", field) if field != "type" && field != "source" => {
                fault(part, "event has type and source, and no other field")
            }
            (true, _, _) => Ok(Seen::plain(Kind::Bool)),
            (false, "event" | "headers", _) => Ok(Seen::new(Kind::Text, extent)),
            (false, _, _) => Ok(Seen::new(Kind::Unknown, extent.within())),
        }
    }

    fn called(&mut self, part: &IdedExpr, call: &CallExpr) -> Found {
        let name = call.func_name.as_str();
        let operands: Vec<&IdedExpr> = call.target.as_deref().into_iter().chain(&call.args).collect();
        match (name, &operands[..]) {
            (operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT, all) => {
                all.iter().try_for_each(|operand| self.expect(operand, &[Kind::Bool]).map(drop))?;
                Ok(Seen::plain(Kind::Bool))
            }
            (operators::CONDITIONAL, [condition, yes, no]) => self.chosen(condition, yes, no, Self::kind),
            (operators::ADD, [one, other]) => {
                let (one, other) = (self.kind(one)?, self.kind(other)?);
                self.added(part, &operands, one, other)
            }
            (
                operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE | operators::MODULO,
                [one, other],
            ) => {
                let (one, other) = (self.expect(one, &NUMBERS)?, self.expect(other, &NUMBERS)?);
                Ok(Seen::plain(joined(part, one.kind, other.kind)?))
            }
            (operators::NEGATE, [one]) => Ok(Seen::plain(self.expect(one, &NUMBERS)?.kind)),
            (operators::INDEX, [within, at]) => self.indexed(within, at),
            (name, operands) => self.function(part, name, operands),
        }
    }

    fn chosen(
        &mut self,
        condition: &IdedExpr,
        yes: &IdedExpr,
        no: &IdedExpr,
        mut branch: impl FnMut(&mut Self, &IdedExpr) -> Found,
    ) -> Found {
        self.expect(condition, &[Kind::Bool])?;
        let (yes, no) = (branch(self, yes)?, branch(self, no)?);
        let kind = if yes.kind == no.kind { yes.kind } else { Kind::Unknown };
        Ok(Seen { kind, extent: yes.extent.or(no.extent) })
    }

    /// What two of one kind give: as large as both, of which both are copied.
    fn added(&mut self, part: &IdedExpr, operands: &[&IdedExpr], one: Seen, other: Seen) -> Found {
        for (operand, seen) in operands.iter().zip([one, other]) {
            usable(operand, seen, &ADDABLE)?;
        }
        let kind = joined(part, one.kind, other.kind)?;
        let (one, other) = (Seen::new(kind, one.extent), Seen::new(kind, other.extent));
        let sum = Seen::new(kind, one.extent + other.extent);
        self.spend(sum.extent.bulk.copied());
        Ok(sum)
    }

    /// A part of a key that is evaluated by itself ([`super::key`]), which adds no lists: a key is none.
    fn key_part(&mut self, part: &IdedExpr) -> Found {
        let Expr::Call(call) = &part.expr else { return self.kind(part) };
        match (call.func_name.as_str(), &call.args[..]) {
            (operators::CONDITIONAL, [condition, yes, no]) => {
                self.nested(part, |checker| checker.chosen(condition, yes, no, Self::key_part))
            }
            (operators::ADD, [one, other]) => self.nested(part, |checker| {
                checker.spend(Bound::fixed(cost::PART));
                let plain = |seen: Seen| Seen { extent: seen.extent.as_text(), ..seen };
                let (first, second) = (plain(checker.key_part(one)?), plain(checker.key_part(other)?));
                checker.added(part, &[one, other], first, second)
            }),
            _ => self.kind(part),
        }
    }

    fn function(&mut self, part: &IdedExpr, name: &str, operands: &[&IdedExpr]) -> Found {
        let seen: Vec<Seen> = operands.iter().map(|operand| self.kind(operand)).collect::<Result<_, _>>()?;
        let usable =
            |any: &[Kind]| operands.iter().zip(&seen).try_for_each(|(part, seen)| usable(part, *seen, any));
        self.spend(call_work(name, &seen));
        let kind = match (name, seen.len()) {
            (
                operators::EQUALS
                | operators::NOT_EQUALS
                | operators::LESS
                | operators::LESS_EQUALS
                | operators::GREATER
                | operators::GREATER_EQUALS
                | operators::IN
                | operators::NOT_STRICTLY_FALSE,
                _,
            ) => Kind::Bool,
            ("contains" | "startsWith" | "endsWith", 2) => {
                usable(&[Kind::Text])?;
                Kind::Bool
            }
            ("size", 1) => {
                usable(&[Kind::Text, Kind::Bytes, Kind::List, Kind::Map])?;
                Kind::Int
            }
            ("string", 1) => Kind::Text,
            ("int", 1) => Kind::Int,
            ("uint", 1) => Kind::UInt,
            ("double", 1) => Kind::Double,
            ("bool", 1) => Kind::Bool,
            ("bytes", 1) => Kind::Bytes,
            ("dyn" | "type", 1) => Kind::Unknown,
            _ if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                return fault(
                    part,
                    format!("{}() cannot be called like this; there are {FUNCTIONS}", quotable(name)),
                );
            }
            _ => return fault(part, "this is not allowed here"),
        };
        // All but dyn make a text or a number, of one that is no longer.
        let made = seen.first().map_or(Extent::ONE, |seen| seen.extent);
        Ok(Seen::new(kind, if name == "dyn" { made } else { made.as_text() + Extent::ONE }))
    }

    fn indexed(&mut self, within: &IdedExpr, at: &IdedExpr) -> Found {
        let at = self.kind(at)?;
        let extent = self.expect(within, &[Kind::List, Kind::Map])?.extent;
        self.spend(at.extent.bulk.lesser(extent.bulk) + Bound::fixed(cost::SELECT));
        let of_headers = matches!(&within.expr, Expr::Ident(name) if name == "headers");
        let kind = if of_headers { Kind::Text } else { Kind::Unknown };
        Ok(Seen::new(kind, extent.within()))
    }

    pub(super) fn expect(&mut self, part: &IdedExpr, any: &[Kind]) -> Found {
        let seen = self.kind(part)?;
        usable(part, seen, any)?;
        Ok(seen)
    }

    fn looped(&mut self, part: &IdedExpr, around: &ComprehensionExpr) -> Found {
        if self.in_loop {
            return fault(part, "all, exists, exists_one, map and filter cannot be nested");
        }
        let range = self.expect(&around.iter_range, &[Kind::List, Kind::Map])?.extent;
        let collected = self.kind(&around.accu_init)?.kind;
        let outside = std::mem::take(&mut self.outline.work);
        let known = self.variables.len();
        // What is collected is not copied when the next element is added.
        let nothing = Extent::default();
        self.variables.push((around.accu_var.clone(), Seen { kind: collected, extent: nothing }));
        self.in_loop = true;
        let result = self.kind(&around.result);
        let element = Extent::OF_BODY;
        let names = std::iter::once(&around.iter_var).chain(&around.iter_var2);
        let variables = names.map(|name| (name.clone(), Seen { kind: Kind::Unknown, extent: element }));
        self.variables.extend(variables);
        self.spend(element.bulk.copied());
        let step = self.kind(&around.loop_cond).and_then(|_| self.kind(&around.loop_step));
        self.in_loop = false;
        self.variables.truncate(known);
        self.outline.work = outside + self.outline.work.over(range);
        let bulk = step?.extent.bulk.over(range) + Bound::ONE;
        Ok(Seen::new(result?.kind, Extent::of_list(bulk, range.items)))
    }
}

/// The kind of two that go together.
fn joined(part: &IdedExpr, one: Kind, other: Kind) -> Result<Kind, Fault> {
    match one.joined(other) {
        Some(kind) => Ok(kind),
        None => fault(part, format!("{one} and {other} do not go together")),
    }
}
