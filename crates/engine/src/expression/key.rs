//! Evaluates a key. What it adds is added here, since lists of the body would be copied for nothing: a key is a text, a
//! whole number, or true or false.

use super::Failure;
use super::check::choice;
use super::json::plain;
use cel::common::ast::{Expr, IdedExpr, operators};
use cel::common::types::{CelBool, CelList, CelString};
use cel::common::value::CowVal;
use cel::{Context, Value};

type Names<'c> = Context<'c, 'c>;

/// The key as text, if it is one.
pub(super) fn text(tree: &IdedExpr, names: &Names<'_>) -> Result<Option<String>, Failure> {
    let value = value(tree, names)?;
    let text = value.downcast_ref::<CelString<'_>>().map(|text| text.inner().to_owned());
    Ok(text.or_else(|| plain(&*value)))
}

fn value<'n>(part: &'n IdedExpr, names: &'n Names<'n>) -> Result<CowVal<'n, 'n>, Failure> {
    let Expr::Call(call) = &part.expr else { return Ok(Value::resolve_val(part, names)?) };
    if let Some([condition, yes, no]) = choice(call) {
        let held = Value::resolve_val(condition, names)?;
        return match held.downcast_ref::<CelBool>().map(|held| *held.inner()) {
            Some(true) => value(yes, names),
            Some(false) => value(no, names),
            None => Err(Failure::new("the condition before ? is neither true nor false")),
        };
    }
    let (operators::ADD, [one, other]) = (call.func_name.as_str(), &call.args[..]) else {
        return Ok(Value::resolve_val(part, names)?);
    };
    let (one, other) = (value(one, names)?, value(other, names)?);
    let adder = one.as_adder().filter(|_| one.downcast_ref::<CelList<'_>>().is_none());
    let adder = adder.ok_or_else(|| Failure::new("a part of the key cannot be added"))?;
    Ok(CowVal::Owned(adder.add(other.as_ref())?.into_owned()))
}
