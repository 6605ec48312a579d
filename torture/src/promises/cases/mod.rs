//! The cases, a file for each chapter.

mod clean;
mod crashes;
mod ingest;
mod nodes;
mod receivers;
mod time;

use super::{Case, Chapter, Proof};

pub(super) const CHAPTERS: &[Chapter] = &[
    Chapter { name: "Crashes and storage", cases: crashes::CASES },
    Chapter { name: "PostgreSQL and several nodes", cases: nodes::CASES },
    Chapter { name: "Time", cases: time::CASES },
    Chapter { name: "Hostile receivers", cases: receivers::CASES },
    Chapter { name: "Ingest and API", cases: ingest::CASES },
    Chapter { name: "Clean runs", cases: clean::CASES },
];

const fn case(code: &'static str, stores: &'static str, what: &'static str, by: &'static [Proof]) -> Case {
    Case { code, stores, what, by }
}
