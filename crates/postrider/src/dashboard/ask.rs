//! Asks once before what cannot be undone, and says what happens. It is a page, so that nobody needs scripts for it;
//! where there are some, `page.js` asks in a box and sends that it was agreed to.

use super::answer::Frame;
use super::guard::Form;
use askama::Template;

pub(super) const DESTINATION: &str =
    "Its pending deliveries become dead letters and its routes are deleted. This cannot be undone.";
pub(super) const SECRET: &str =
    "The new secret is shown once. The old secret keeps working for 24 hours. This cannot be undone.";
pub(super) const UNSIGNED: &str = "Anyone with its URL can send events then, and the verification secret is deleted. This cannot be undone.";
pub(super) const SOURCE: &str = "Its URL stops accepting events and its routes are deleted. Events already received stay. This cannot be undone.";
pub(super) const ROUTE: &str =
    "New events no longer match it. Deliveries that already exist are still sent. This cannot be undone.";
pub(super) const KEY: &str = "Requests with this key are refused at once. This cannot be undone.";
pub(super) const DEAD_LETTER: &str = "It can no longer be replayed. Its event stays until the end of the retention period. This cannot be undone.";

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
