//! What is known of the type of a part of an expression before there is an event.

use super::Wants;
use cel::common::ast::LiteralValue;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int,
    UInt,
    Double,
    Text,
    Bytes,
    Null,
    List,
    Map,
    /// Depends on the event.
    Unknown,
}

impl Kind {
    pub(super) const fn of(literal: &LiteralValue) -> Self {
        match literal {
            LiteralValue::Boolean(_) => Kind::Bool,
            LiteralValue::Bytes(_) => Kind::Bytes,
            LiteralValue::Double(_) => Kind::Double,
            LiteralValue::Int(_) => Kind::Int,
            LiteralValue::Null => Kind::Null,
            LiteralValue::String(_) => Kind::Text,
            LiteralValue::UInt(_) => Kind::UInt,
        }
    }

    /// Whether it may turn out as one of these.
    pub(super) fn may_be(self, any: &[Kind]) -> bool {
        self == Kind::Unknown || any.contains(&self)
    }

    pub(super) fn may_serve(self, wants: Wants) -> bool {
        self.may_be(match wants {
            Wants::Message => return true,
            Wants::Bool => &[Kind::Bool],
            Wants::Priority => &[Kind::Int, Kind::UInt],
            Wants::Key => &[Kind::Text, Kind::Int, Kind::UInt, Kind::Bool],
        })
    }

    /// The kind of what two of one kind give: if one is known, so is the other. `None` when they differ.
    pub(super) fn joined(self, other: Kind) -> Option<Kind> {
        match (self, other) {
            (Kind::Unknown, kind) | (kind, Kind::Unknown) => Some(kind),
            (one, other) => (one == other).then_some(one),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Bool => "true or false",
            Kind::Int | Kind::UInt => "a whole number",
            Kind::Double => "a number with a fraction",
            Kind::Text => "a text",
            Kind::Bytes => "bytes",
            Kind::Null => "null",
            Kind::List => "a list",
            Kind::Map => "a map",
            Kind::Unknown => "anything",
        })
    }
}
