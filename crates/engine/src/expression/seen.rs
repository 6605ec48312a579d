//! What is known of a part of an expression before there is an event, and what calls of it cost.

use super::cost::{self, Bound, Extent};
use super::kind::Kind;
use cel::common::ast::{Expr, IdedExpr, LiteralValue, operators};

/// What is known of the value of a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) kind: Kind,
    pub(super) extent: Extent,
}

impl Seen {
    pub(super) fn new(kind: Kind, extent: Extent) -> Self {
        match kind {
            Kind::Text | Kind::Bytes => Seen { kind, extent: extent.as_text() },
            Kind::List | Kind::Map | Kind::Unknown => Seen { kind, extent },
            _ => Seen { kind, extent: Extent::ONE },
        }
    }

    pub(super) fn plain(kind: Kind) -> Self {
        Seen { kind, extent: Extent::ONE }
    }
}

/// What a call costs beside its operands.
pub(super) fn call_work(name: &str, operands: &[Seen]) -> Bound {
    let bulk = |at: usize| operands.get(at).map_or(Bound::ONE, |seen| seen.extent.bulk);
    match name {
        operators::EQUALS | operators::NOT_EQUALS => bulk(0).lesser(bulk(1)).times(cost::COMPARE),
        operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS => {
            bulk(0).lesser(bulk(1)).times(cost::COMPARE) + Bound::fixed(cost::ORDER)
        }
        operators::IN => bulk(1).times(cost::SEARCH),
        operators::NOT_STRICTLY_FALSE => Bound::default(),
        "dyn" => bulk(0).copied(),
        // All others look at texts and numbers alone, or at how long a list is.
        _ => {
            let texts = operands.iter().fold(Bound::ONE, |all, seen| all + seen.extent.as_text().bulk);
            texts.times(cost::SCAN)
        }
    }
}

pub(super) fn literal(literal: &LiteralValue) -> Seen {
    let bytes = match literal {
        LiteralValue::String(text) => text.inner().len(),
        LiteralValue::Bytes(bytes) => bytes.inner().len(),
        _ => 0,
    };
    let bulk = Bound::ONE + Bound::count(bytes.div_ceil(cost::TEXT_BYTES));
    Seen::new(Kind::of(literal), Extent::of(bulk))
}

/// What the name of a field costs that is looked up.
pub(super) fn name_units(part: &IdedExpr) -> u64 {
    u64::try_from(name_bytes(part).div_ceil(cost::NAME_BYTES)).unwrap_or(u64::MAX)
}

/// The length of `a.b.c` as it is looked up, if a part is a name like this.
fn name_bytes(part: &IdedExpr) -> usize {
    match &part.expr {
        Expr::Ident(name) => name.len(),
        Expr::Select(select) => name_bytes(&select.operand) + select.field.len(),
        _ => 0,
    }
}
