//! What is asked before something is done to a destination that cannot be undone, on the dashboard and in the portal alike.

use crate::dashboard::ask::{self, Question};

#[derive(Clone, Copy)]
pub(in crate::dashboard) enum Final {
    Delete,
    RotateSecret,
}

impl Final {
    /// By the word of its button; `None` when it can be undone.
    pub(in crate::dashboard) fn of(action: &str) -> Option<Self> {
        match action {
            "delete" => Some(Final::Delete),
            "rotate-secret" => Some(Final::RotateSecret),
            _ => None,
        }
    }

    /// `prefix` is where the pages begin.
    pub(in crate::dashboard) fn question(self, prefix: &str, id: &str, name: &str) -> Question {
        let back = format!("{prefix}/destinations/{id}");
        let (title, happens, word, action) = match self {
            Final::Delete => (format!("Delete {name}?"), ask::DESTINATION, "Delete", "delete"),
            Final::RotateSecret => (
                format!("Rotate the signing secret of {name}?"),
                ask::SECRET,
                "Rotate signing secret",
                "rotate-secret",
            ),
        };
        Question { title, happens, word, page: format!("{back}/{action}"), back }
    }
}
