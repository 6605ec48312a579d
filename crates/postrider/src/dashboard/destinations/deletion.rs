//! What is asked before a destination is deleted, on the dashboard and in the portal alike.

use crate::dashboard::ask::{self, Question};

/// `prefix` is where the pages begin.
pub(in crate::dashboard) fn deletion(prefix: &str, id: &str, name: &str) -> Question {
    let page = format!("{prefix}/destinations/{id}");
    Question {
        title: format!("Delete {name}?"),
        happens: ask::DESTINATION,
        word: "Delete it",
        page: format!("{page}/delete"),
        back: page,
    }
}
