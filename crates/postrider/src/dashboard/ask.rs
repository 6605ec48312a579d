//! Asks once before what cannot be undone, and says what happens. It is a page, so that nobody needs scripts for it;
//! where there are some, `page.js` asks in a box and sends that it was agreed to.

use super::answer::Frame;
use super::guard::Form;
use askama::Template;

pub(super) const DESTINATION: &str =
    "What it is still owed is given up on, and the routes to it are gone. This cannot be undone.";
pub(super) const SECRET: &str = "It is shown once. The old one signs beside it for a day; whoever checks by that alone refuses what comes later. This cannot be undone.";
pub(super) const UNSIGNED: &str = "Whoever knows its URL can send events by it, and the secret that senders signed by is gone. This cannot be undone.";
pub(super) const SOURCE: &str = "Its URL takes no more events, and the routes from it are gone. Events that came in stay. This cannot be undone.";
pub(super) const ROUTE: &str = "Events that come in from now on do not go there by it. What it has led to already is still delivered. This cannot be undone.";
pub(super) const KEY: &str = "Whoever uses it is refused from then on. This cannot be undone.";
pub(super) const DEAD_LETTER: &str =
    "It cannot be sent again after that. Its event stays until it is too old. This cannot be undone.";

/// What is asked, and where each answer leads.
pub(super) struct Question {
    pub(super) title: String,
    pub(super) happens: &'static str,
    /// On the button that does it.
    pub(super) word: &'static str,
    /// Where the form goes that agrees.
    pub(super) page: String,
    /// Where they come back to who do not.
    pub(super) back: String,
}

#[derive(Template)]
#[template(path = "ask.html")]
pub(super) struct AskPage {
    pub(super) frame: Frame,
    pub(super) question: Question,
}

/// Whether somebody was asked and agreed.
pub(super) fn is_agreed(form: &Form) -> bool {
    form.text("confirmed").is_some()
}
