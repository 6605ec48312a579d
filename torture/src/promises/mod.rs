//! What Postrider promises, the cases that must not break it, and what covers each: the source of `docs/guarantees.md`.

mod cases;
mod guarantees;
mod page;
#[cfg(test)]
mod tests;

pub use page::{Results, render};

/// A promise.
pub struct Guarantee {
    /// As people call it.
    pub code: &'static str,
    /// In a word.
    pub name: &'static str,
    /// In sentences.
    pub promise: &'static str,
    /// When it does not hold; empty where it always does.
    pub exception: &'static str,
    /// Which columns of the suite's table must be 0 for it; empty where the suite does not look.
    pub columns: &'static [&'static str],
    /// What else shows it.
    pub by: &'static [Proof],
}

/// Something that happens, and must not break a promise.
pub struct Case {
    /// As people call it; empty where it has no number.
    pub code: &'static str,
    /// `E` embedded, `P` PostgreSQL, `B` both, a dash where it has no part in it.
    pub stores: &'static str,
    /// What happens and what must hold.
    pub what: &'static str,
    /// What shows that it does.
    pub by: &'static [Proof],
}

/// What shows that something holds.
pub enum Proof {
    /// A file and the test in it.
    Test(&'static str, &'static str),
    /// What the suite does in a run.
    Suite(&'static str),
    /// A scenario of `postrider bench`, by its name.
    Bench(&'static str),
}

/// A list of cases under one heading.
pub struct Chapter {
    /// Its heading.
    pub name: &'static str,
    /// What is in it.
    pub cases: &'static [Case],
}
