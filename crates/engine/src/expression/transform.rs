//! An expression that gives an event another body and other headers.
//!
//! Maps and lists that are spelled out in it are written part by part, so that what it holds in memory is what it
//! sends and no copy of it. Whether a map is a message (`body`, `headers`) or a body is decided by how it is
//! spelled, never by the event: a sender must not be able to add headers by what stands in its payload.

use super::check::{Outline, choice, is_message, text_literal};
use super::json::{self, Output, name, plain};
use super::{BadExpression, Expression, Facts, Failure, Wants};
use cel::common::ast::{EntryExpr, Expr, IdedExpr, MapExpr};
use cel::common::types::{CelBool, CelBytes, CelMap, CelNull, CelString};
use cel::common::value::{CowVal, Val};
use cel::{Context, Value};
use postrider_core::limits::{BODY_BYTES_MAX, CUSTOM_HEADERS_MAX};
use std::collections::BTreeSet;

/// A legal transform, ready to be applied.
#[derive(Debug)]
pub struct Transform {
    root: Part,
    outline: Outline,
}

/// What a transform makes of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    /// Another body; the event's own when `None`.
    pub(crate) body: Option<NewBody>,
    /// Headers over the event's own. One without a value is not passed on.
    pub(crate) headers: Vec<(String, Option<String>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NewBody {
    /// A text or bytes, as they are.
    Plain(Vec<u8>),
    Json(Vec<u8>),
}

#[derive(Debug)]
enum Part {
    Choice(Box<(IdedExpr, Part, Part)>),
    Message { body: Option<Box<Part>>, headers: Option<Box<Part>> },
    Object(Vec<(IdedExpr, Part)>),
    List(Vec<Part>),
    Leaf(IdedExpr),
}

type Names<'c> = Context<'c, 'c>;

impl Transform {
    /// Checks a text and everything that can be known of it before there is an event.
    pub fn compile(text: &str) -> Result<Self, BadExpression> {
        let Expression { tree, outline } = Expression::compile(text, Wants::Message)?;
        Ok(Transform { root: Part::root(tree), outline })
    }

    pub(crate) fn apply(&self, facts: &Facts<'_>) -> Result<Message, Failure> {
        facts.afford(self.outline)?;
        super::guarded(facts, |names| self.root.message(names))
    }
}

impl Part {
    /// The branches of a choice may be messages; what is deeper may not.
    fn root(tree: IdedExpr) -> Self {
        match tree.expr {
            Expr::Call(call) if choice(&call).is_some() => Part::choice(call.args, Part::root),
            Expr::Map(map) if is_message(&map) => {
                let mut parts = entries(map);
                let mut take = |name: &str| {
                    let at = parts.iter().position(|(key, _)| text_literal(key) == Some(name))?;
                    Some(Box::new(parts.swap_remove(at).1))
                };
                Part::Message { body: take("body"), headers: take("headers") }
            }
            expr => Part::inner(IdedExpr { id: tree.id, expr }),
        }
    }

    fn inner(tree: IdedExpr) -> Self {
        match tree.expr {
            Expr::Call(call) if choice(&call).is_some() => Part::choice(call.args, Part::inner),
            Expr::Map(map) => Part::Object(entries(map)),
            Expr::List(list) => Part::List(list.elements.into_iter().map(Part::inner).collect()),
            expr => Part::Leaf(IdedExpr { id: tree.id, expr }),
        }
    }

    fn choice(args: Vec<IdedExpr>, branch: fn(IdedExpr) -> Part) -> Self {
        let [condition, yes, no] = <[IdedExpr; 3]>::try_from(args).expect("a choice has three parts");
        Part::Choice(Box::new((condition, branch(yes), branch(no))))
    }

    /// The part that counts for this event.
    fn chosen(&self, names: &Names<'_>) -> Result<&Part, Failure> {
        let Part::Choice(choice) = self else { return Ok(self) };
        let (condition, yes, no) = &**choice;
        let held = Value::resolve_val(condition, names)?;
        let Some(held) = held.downcast_ref::<CelBool>() else {
            return Err(Failure::new("the condition before ? is neither true nor false"));
        };
        if *held.inner() { yes } else { no }.chosen(names)
    }

    fn message(&self, names: &Names<'_>) -> Result<Message, Failure> {
        match self.chosen(names)? {
            Part::Message { body, headers } => Ok(Message {
                body: body.as_ref().map(|part| part.body(names)).transpose()?,
                headers: headers.as_ref().map_or(Ok(Vec::new()), |part| part.headers(names))?,
            }),
            body => Ok(Message { body: Some(body.body(names)?), headers: Vec::new() }),
        }
    }

    /// A text or bytes are the body as they are; all else is written as JSON.
    fn body(&self, names: &Names<'_>) -> Result<NewBody, Failure> {
        let chosen = self.chosen(names)?;
        if let Part::Leaf(leaf) = chosen {
            let value = Value::resolve_val(leaf, names)?;
            if let Some(bytes) = as_bytes(&value) {
                let fits = bytes.len() <= BODY_BYTES_MAX;
                return if fits { Ok(NewBody::Plain(bytes.to_vec())) } else { Err(json::too_large()) };
            }
            let mut output = Output::default();
            output.value(&*value)?;
            return Ok(NewBody::Json(output.finish()));
        }
        let mut output = Output::default();
        chosen.write(names, &mut output)?;
        Ok(NewBody::Json(output.finish()))
    }

    fn write(&self, names: &Names<'_>, output: &mut Output) -> Result<(), Failure> {
        match self.chosen(names)? {
            Part::Object(entries) => {
                let fields = named(entries, names)?;
                output.object(fields, |output, part| part.write(names, output))
            }
            Part::List(parts) => output.list(parts, |output, part| part.write(names, output)),
            Part::Leaf(leaf) => output.value(&*Value::resolve_val(leaf, names)?),
            Part::Choice(_) | Part::Message { .. } => Err(Failure::broken()),
        }
    }

    fn headers(&self, names: &Names<'_>) -> Result<Vec<(String, Option<String>)>, Failure> {
        let headers = match self.chosen(names)? {
            Part::Object(entries) => named(entries, names)?
                .into_iter()
                .map(|(name, part)| Ok((header_value(&name, &*part.leaf(names)?)?, name)))
                .map(|made| made.map(|(value, name)| (name, value)))
                .collect::<Result<Vec<_>, Failure>>()?,
            part => {
                let value = part.leaf(names)?;
                let map = value.downcast_ref::<CelMap<'_>>();
                let map = map.ok_or_else(|| Failure::new("headers are not a map"))?;
                // CEL goes through a map in no order; which of several headers is refused must not depend on it.
                let mut found: Vec<_> = map.inner().iter().map(|(key, value)| (name(key), value)).collect();
                found.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
                let made = found
                    .into_iter()
                    .map(|(name, value)| header_value(&name, value.as_ref()).map(|value| (name, value)));
                made.collect::<Result<Vec<_>, Failure>>()?
            }
        };
        if headers.len() > CUSTOM_HEADERS_MAX {
            return Err(Failure::new(format!("it gives more than {CUSTOM_HEADERS_MAX} headers")));
        }
        Ok(headers)
    }

    fn leaf<'n>(&'n self, names: &'n Names<'n>) -> Result<CowVal<'n, 'n>, Failure> {
        match self.chosen(names)? {
            Part::Leaf(leaf) => Ok(Value::resolve_val(leaf, names)?),
            _ => Err(Failure::new("a header is a map or a list and not a text")),
        }
    }
}

fn entries(map: MapExpr) -> Vec<(IdedExpr, Part)> {
    let entry = |entry: EntryExpr| match entry {
        EntryExpr::MapEntry(entry) => Some((entry.key, Part::inner(entry.value))),
        EntryExpr::StructField(_) => None,
    };
    map.entries.into_iter().filter_map(|known| entry(known.expr)).collect()
}

/// The fields of a map that is spelled out, as it is spelled.
fn named<'p>(entries: &'p [(IdedExpr, Part)], names: &Names<'_>) -> Result<Vec<(String, &'p Part)>, Failure> {
    let mut seen = BTreeSet::new();
    let mut fields = Vec::with_capacity(entries.len());
    for (key, part) in entries {
        let key = Value::resolve_val(key, names)?;
        let text = key.downcast_ref::<CelString<'_>>().map(|text| text.inner().to_owned());
        let name = text.or_else(|| plain(&*key));
        let name = name.ok_or_else(|| Failure::new("the name of a field is not a text"))?;
        if !seen.insert(name.clone()) {
            return Err(Failure::new("a map has the same field twice"));
        }
        fields.push((name, part));
    }
    Ok(fields)
}

fn as_bytes<'v>(value: &'v CowVal<'_, '_>) -> Option<&'v [u8]> {
    let text = value.downcast_ref::<CelString<'_>>().map(|text| text.inner().as_bytes());
    text.or_else(|| value.downcast_ref::<CelBytes<'_>>().map(CelBytes::inner))
}

fn header_value(name: &str, value: &dyn Val) -> Result<Option<String>, Failure> {
    if value.downcast_ref::<CelNull>().is_some() {
        return Ok(None);
    }
    let text = value.downcast_ref::<CelString<'_>>().map(|text| text.inner().to_owned());
    let refused = || {
        let name = super::position::quotable(name);
        Failure::new(format!("the header {name} is not a text, a whole number, true, false or null"))
    };
    text.or_else(|| plain(value)).map(Some).ok_or_else(refused)
}

#[cfg(test)]
mod tests;
