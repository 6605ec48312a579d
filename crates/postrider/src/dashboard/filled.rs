//! A form as it is shown: with what stands in its fields, and the API's sentence beside the field that it names.

use super::answer::Refused;
use super::guard::Form;

/// The hidden field with the tag of what the form has shown.
pub(super) const SEEN: &str = "seen";

#[derive(Default)]
pub(super) struct Filled {
    values: Vec<(String, String)>,
    problem: Option<(String, String)>,
}

impl Filled {
    /// With what is there now.
    pub(super) fn with<const N: usize>(values: [(&str, String); N]) -> Self {
        let values = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Filled { values, problem: None }
    }

    /// As a form that changes what has this tag.
    pub(super) fn seeing(mut self, tag: String) -> Self {
        self.values.push((SEEN.to_owned(), tag));
        self
    }

    /// As it was filled in.
    pub(super) fn of(form: Form) -> Self {
        Filled { values: form.pairs(), problem: None }
    }

    /// Without fields that must not come back to the browser.
    pub(super) fn without(mut self, fields: &[&str]) -> Self {
        self.values.retain(|(name, _)| !fields.contains(&name.as_str()));
        self
    }

    /// A form that was refused, as it was filled in. A refusal that names none of its fields is handed back: it belongs
    /// to the whole page.
    pub(super) fn refused(form: Form, fields: &[&str], refused: Refused) -> (Self, Option<Refused>) {
        let values = form.pairs();
        let whole = refused.field.as_deref().unwrap_or_default();
        let first = whole.split(['.', '[']).next().unwrap_or_default();
        // A part of an object may have a field of its own.
        let named = |name: &str| fields.iter().find(|field| **field == name);
        match named(whole).or_else(|| named(first)) {
            Some(field) => {
                let problem = Some(((*field).to_owned(), refused.sentence));
                (Filled { values, problem }, None)
            }
            None => (Filled { values, problem: None }, Some(refused)),
        }
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.values.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub(super) fn is(&self, name: &str, value: &str) -> bool {
        self.text(name) == value
    }

    pub(super) fn problem(&self, name: &str) -> Option<&str> {
        self.problem.as_ref().filter(|(field, _)| field == name).map(|(_, sentence)| sentence.as_str())
    }
}
