//! What evaluating an expression costs at most, and how large the values in it become, both found before there is an
//! event. A unit is about 25 ns, or a value of a few dozen bytes.

use crate::body_measure::BodyMeasure;
use std::ops::{Add, AddAssign};

/// For each part that is evaluated.
pub(super) const PART: u64 = 3;
/// For a field that is looked up, beside the bytes of its name.
pub(super) const SELECT: u64 = 16;
/// Bytes of a name that cost a unit: each beginning of `a.b.c` is looked for in two places.
pub(super) const NAME_BYTES: usize = 8;
/// For a comparison by size, which makes ready to say what went wrong.
pub(super) const ORDER: u64 = 16;
/// For each value that is copied, measured.
const COPY: u64 = 4;
/// For each value that is compared.
pub(super) const COMPARE: u64 = 2;
/// For each value of a list in which one is looked for.
pub(super) const SEARCH: u64 = 3;
/// For each stretch of a text that a function looks at.
pub(super) const SCAN: u64 = 2;
/// Bytes of a text that are copied in a unit.
pub(super) const TEXT_BYTES: usize = 64;
/// How large all headers of an event are, with room to spare, and its type with the name of its source.
pub(super) const HEADERS: u64 = 512;
pub(super) const EVENT: u64 = 32;
/// A map that is made.
pub(super) const MAP: u64 = 8;

/// A bound that grows with the body, or inside a loop with the element: never more than this sum. All of it stops
/// at the greatest number instead of running over, so that what grows without end is beyond any limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) fixed: u64,
    /// For each element of the longest list or map in the body.
    pub(super) items: u64,
    /// For each value in the body.
    pub(super) values: u64,
    /// For each stretch of text in the body.
    pub(super) text: u64,
}

impl Bound {
    pub(super) const ONE: Bound = Bound::fixed(1);
    /// As large as the body, or inside a loop as its element.
    pub(super) const WHOLE: Bound = Bound { fixed: 0, items: 0, values: 1, text: 1 };
    pub(super) const LONGEST: Bound = Bound { fixed: 0, items: 1, values: 0, text: 0 };

    pub(super) const fn fixed(fixed: u64) -> Self {
        Bound { fixed, items: 0, values: 0, text: 0 }
    }

    pub(super) fn count(parts: usize) -> Self {
        Bound::fixed(u64::try_from(parts).unwrap_or(u64::MAX))
    }

    pub(super) fn times(self, factor: u64) -> Self {
        self.each(Bound::fixed(factor), |one, _| one.saturating_mul(factor))
    }

    /// What copying something of this size costs.
    pub(super) fn copied(self) -> Self {
        Bound { text: self.text, ..self.times(COPY) }
    }

    /// At least as large as either.
    pub(super) fn or(self, other: Self) -> Self {
        self.each(other, u64::max)
    }

    /// The one of two bounds of the same thing that says more of large bodies.
    pub(super) fn lesser(self, other: Self) -> Self {
        let largest = BodyMeasure::largest();
        if self.at(largest) <= other.at(largest) { self } else { other }
    }

    /// What is spent or made for one element, over all elements of a list.
    pub(super) fn over(self, list: Extent) -> Self {
        let once = list.items.times(self.fixed);
        let values = Bound { text: 0, ..list.bulk }.times(self.values);
        let text = Bound { values: 0, ..list.bulk }.times(self.text);
        once + values + text
    }

    pub(super) fn at(self, body: BodyMeasure) -> u64 {
        let text = u64::try_from(body.bytes.div_ceil(TEXT_BYTES)).unwrap_or(u64::MAX);
        self.fixed
            .saturating_add(self.items.saturating_mul(body.longest))
            .saturating_add(self.values.saturating_mul(body.values))
            .saturating_add(self.text.saturating_mul(text))
    }

    fn each(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Bound {
            fixed: join(self.fixed, other.fixed),
            items: join(self.items, other.items),
            values: join(self.values, other.values),
            text: join(self.text, other.text),
        }
    }
}

impl Add for Bound {
    type Output = Bound;

    fn add(self, other: Self) -> Self {
        self.each(other, u64::saturating_add)
    }
}

impl AddAssign for Bound {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// How large a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) bulk: Bound,
    /// How many elements it has, if it is a list or a map.
    pub(super) items: Bound,
    /// How large it is if it is a text: in a body that is one value, however long.
    text: Bound,
}

impl Extent {
    pub(super) const ONE: Extent = Extent { bulk: Bound::ONE, items: Bound::ONE, text: Bound::ONE };
    /// The body, or anything that is in it.
    pub(super) const OF_BODY: Extent = Extent {
        bulk: Bound::WHOLE,
        items: Bound::LONGEST,
        text: Bound { values: 0, fixed: 1, ..Bound::WHOLE },
    };

    /// Of which no more is known: it has no more elements than values.
    pub(super) fn of(bulk: Bound) -> Self {
        Extent { bulk, items: Bound { text: 0, ..bulk }, text: bulk }
    }

    pub(super) fn of_list(bulk: Bound, items: Bound) -> Self {
        Extent { bulk, items, text: Bound::default() }
    }

    pub(super) fn as_text(self) -> Self {
        Extent::of(self.text)
    }

    /// Of a value that is in it.
    pub(super) fn within(self) -> Self {
        if self == Extent::OF_BODY { self } else { Extent::of(self.bulk) }
    }

    pub(super) fn or(self, other: Self) -> Self {
        self.each(other, Bound::or)
    }

    fn each(self, other: Self, join: impl Fn(Bound, Bound) -> Bound) -> Self {
        Extent {
            bulk: join(self.bulk, other.bulk),
            items: join(self.items, other.items),
            text: join(self.text, other.text),
        }
    }
}

impl Add for Extent {
    type Output = Extent;

    fn add(self, other: Self) -> Self {
        self.each(other, Bound::add)
    }
}
