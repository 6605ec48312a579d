//! Looks through an expression before it is ever evaluated: names, functions, types, depth, loops.

use super::kind::Kind;
use super::position::quotable;
use super::{DEPTH_MAX, WORK_BYTES_MAX, Wants};
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
    /// Parts of it whose work may grow with the body, by their weight.
    pub(super) operations: usize,
}

impl Outline {
    /// What evaluating it costs with a body of this size.
    pub(super) fn work(self, body_bytes: usize) -> usize {
        if self.mentions_payload { body_bytes.saturating_mul(self.operations) } else { 0 }
    }

    pub(super) fn is_within_work(self, body_bytes: usize) -> bool {
        self.work(body_bytes) <= WORK_BYTES_MAX
    }
}

pub(super) fn check(tree: &IdedExpr, wants: Wants) -> Result<Outline, Fault> {
    let mut checker = Checker::default();
    match wants {
        Wants::Message => checker.message(tree)?,
        _ => checker.serves(tree, wants)?,
    }
    Ok(Outline { operations: checker.outline.operations.max(1), ..checker.outline })
}

/// Beside a comparison of the whole body, measured: walking its elements costs about eight times as much for each
/// part of a loop, and copying it about four times.
const LOOP_WEIGHT: usize = 8;
const COPY_WEIGHT: usize = 4;
/// What `event` weighs inside a loop, where its texts may be copied for each element: about as much as they are long.
const EVENT_WEIGHT: usize = 256;

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

#[derive(Default)]
pub(super) struct Checker {
    outline: Outline,
    depth: usize,
    /// Variables of the loops around this part, with what is known of them.
    variables: Vec<(String, Kind)>,
    in_loop: bool,
}

pub(super) type Found = Result<Kind, Fault>;

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

pub(super) fn usable(part: &IdedExpr, kind: Kind, any: &[Kind]) -> Result<(), Fault> {
    if kind.may_be(any) { Ok(()) } else { fault(part, format!("{kind} cannot be used like this")) }
}

fn literal_bytes(literal: &LiteralValue) -> usize {
    match literal {
        LiteralValue::String(text) => text.inner().len(),
        LiteralValue::Bytes(bytes) => bytes.inner().len(),
        _ => 0,
    }
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
        let kind = self.kind(tree)?;
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
        // Inside a loop everything is done again for each element.
        if self.in_loop {
            self.outline.operations += LOOP_WEIGHT;
        }
        match &part.expr {
            Expr::Literal(literal) => {
                // A text inside a loop is copied for each element.
                self.outline.operations += if self.in_loop { literal_bytes(literal) } else { 0 };
                Ok(Kind::of(literal))
            }
            Expr::Ident(name) => self.variable(part, name),
            Expr::Select(select) => self.selected(part, select),
            Expr::Call(call) => self.called(part, call),
            Expr::Comprehension(around) => self.looped(part, around),
            Expr::List(list) => {
                list.elements.iter().try_for_each(|element| self.copied(element))?;
                Ok(Kind::List)
            }
            Expr::Map(map) => {
                map.entries.iter().try_for_each(|entry| self.entry(entry))?;
                Ok(Kind::Map)
            }
            Expr::Struct(_) | Expr::Unspecified => fault(part, "this is not allowed here"),
        }
    }

    fn entry(&mut self, entry: &IdedEntryExpr) -> Result<(), Fault> {
        match &entry.expr {
            EntryExpr::MapEntry(entry) => {
                self.kind(&entry.key)?;
                self.copied(&entry.value)
            }
            EntryExpr::StructField(field) => fault(&field.value, "this is not allowed here"),
        }
    }

    /// A part of a list or a map may be as large as the body.
    fn copied(&mut self, part: &IdedExpr) -> Result<(), Fault> {
        let is_literal = matches!(part.expr, Expr::Literal(_));
        self.outline.operations += if is_literal { 0 } else { COPY_WEIGHT };
        self.kind(part).map(drop)
    }

    fn variable(&mut self, part: &IdedExpr, name: &str) -> Found {
        if let Some((_, kind)) = self.variables.iter().rev().find(|(known, _)| known == name) {
            return Ok(*kind);
        }
        match name.trim_start_matches('.') {
            "event" => {
                self.outline.operations += if self.in_loop { EVENT_WEIGHT } else { 0 };
                Ok(Kind::Map)
            }
            "payload" | "headers" if self.in_loop => fault(
                part,
                "inside all, exists, exists_one, map and filter only their variable and event are known",
            ),
            "headers" => Ok(Kind::Map),
            "payload" => {
                self.outline.mentions_payload = true;
                Ok(Kind::Unknown)
            }
            name if TYPES.contains(&name) => Ok(Kind::Unknown),
            name => {
                fault(part, format!("{} is not known; there are event, headers and payload", quotable(name)))
            }
        }
    }

    fn selected(&mut self, part: &IdedExpr, select: &SelectExpr) -> Found {
        let within = self.kind(&select.operand)?;
        if !within.may_be(&[Kind::Map]) {
            return fault(part, format!("{within} has no fields"));
        }
        let of = match &select.operand.expr {
            Expr::Ident(name) if self.variables.iter().all(|(known, _)| known != name) => name.as_str(),
            _ => "",
        };
        match (select.test, of, select.field.as_str()) {
            (_, "event", field) if field != "type" && field != "source" => {
                fault(part, "event has type and source, and no other field")
            }
            (true, _, _) => Ok(Kind::Bool),
            (false, "event" | "headers", _) => Ok(Kind::Text),
            (false, _, _) => Ok(Kind::Unknown),
        }
    }

    fn called(&mut self, part: &IdedExpr, call: &CallExpr) -> Found {
        let name = call.func_name.as_str();
        let operands: Vec<&IdedExpr> = call.target.as_deref().into_iter().chain(&call.args).collect();
        let free = [
            operators::LOGICAL_AND,
            operators::LOGICAL_OR,
            operators::LOGICAL_NOT,
            operators::CONDITIONAL,
            operators::INDEX,
            operators::NOT_STRICTLY_FALSE,
        ];
        self.outline.operations += match name {
            operators::ADD => COPY_WEIGHT,
            name if free.contains(&name) => 0,
            _ => 1,
        };
        match (name, &operands[..]) {
            (operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT, all) => {
                all.iter().try_for_each(|operand| self.expect(operand, &[Kind::Bool]).map(drop))?;
                Ok(Kind::Bool)
            }
            (operators::CONDITIONAL, [condition, yes, no]) => {
                self.expect(condition, &[Kind::Bool])?;
                let (yes, no) = (self.kind(yes)?, self.kind(no)?);
                Ok(if yes == no { yes } else { Kind::Unknown })
            }
            (operators::ADD, [one, other]) => {
                let addable = [Kind::Int, Kind::UInt, Kind::Double, Kind::Text, Kind::Bytes, Kind::List];
                self.alike(part, one, other, &addable)
            }
            (
                operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE | operators::MODULO,
                [one, other],
            ) => self.alike(part, one, other, &NUMBERS),
            (operators::NEGATE, [one]) => self.expect(one, &NUMBERS),
            (operators::INDEX, [within, at]) => self.indexed(within, at),
            (name, operands) => self.function(part, name, operands),
        }
    }

    fn function(&mut self, part: &IdedExpr, name: &str, operands: &[&IdedExpr]) -> Found {
        let kinds: Vec<Kind> = operands.iter().map(|operand| self.kind(operand)).collect::<Result<_, _>>()?;
        let usable =
            |any: &[Kind]| operands.iter().zip(&kinds).try_for_each(|(part, kind)| usable(part, *kind, any));
        match (name, kinds.len()) {
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
            ) => Ok(Kind::Bool),
            ("contains" | "startsWith" | "endsWith", 2) => {
                usable(&[Kind::Text])?;
                Ok(Kind::Bool)
            }
            ("size", 1) => {
                usable(&[Kind::Text, Kind::Bytes, Kind::List, Kind::Map])?;
                Ok(Kind::Int)
            }
            ("string", 1) => Ok(Kind::Text),
            ("int", 1) => Ok(Kind::Int),
            ("uint", 1) => Ok(Kind::UInt),
            ("double", 1) => Ok(Kind::Double),
            ("bool", 1) => Ok(Kind::Bool),
            ("bytes", 1) => Ok(Kind::Bytes),
            ("dyn" | "type", 1) => Ok(Kind::Unknown),
            _ if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                fault(part, format!("{}() cannot be called like this; there are {FUNCTIONS}", quotable(name)))
            }
            _ => fault(part, "this is not allowed here"),
        }
    }

    /// Two of one kind, which is then the kind of what they give.
    fn alike(&mut self, part: &IdedExpr, one: &IdedExpr, other: &IdedExpr, any: &[Kind]) -> Found {
        let (one, other) = (self.expect(one, any)?, self.expect(other, any)?);
        match one.joined(other) {
            Some(kind) => Ok(kind),
            None => fault(part, format!("{one} and {other} do not go together")),
        }
    }

    fn indexed(&mut self, within: &IdedExpr, at: &IdedExpr) -> Found {
        self.kind(at)?;
        self.expect(within, &[Kind::List, Kind::Map])?;
        let of_headers = matches!(&within.expr, Expr::Ident(name) if name == "headers");
        Ok(if of_headers { Kind::Text } else { Kind::Unknown })
    }

    pub(super) fn expect(&mut self, part: &IdedExpr, any: &[Kind]) -> Found {
        let kind = self.kind(part)?;
        usable(part, kind, any)?;
        Ok(kind)
    }

    fn looped(&mut self, part: &IdedExpr, around: &ComprehensionExpr) -> Found {
        if self.in_loop {
            return fault(part, "all, exists, exists_one, map and filter cannot stand inside each other");
        }
        self.expect(&around.iter_range, &[Kind::List, Kind::Map])?;
        let collected = self.kind(&around.accu_init)?;
        let known = self.variables.len();
        self.variables.push((around.accu_var.clone(), collected));
        self.in_loop = true;
        let result = self.kind(&around.result);
        self.variables.push((around.iter_var.clone(), Kind::Unknown));
        self.variables.extend(around.iter_var2.iter().map(|name| (name.clone(), Kind::Unknown)));
        let body = self.kind(&around.loop_cond).and_then(|_| self.kind(&around.loop_step));
        self.in_loop = false;
        self.variables.truncate(known);
        body.and(result)
    }
}
