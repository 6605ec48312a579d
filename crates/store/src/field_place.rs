//! Where in a request a field of the event stands: in a header or in the body.

use std::borrow::Cow;

/// A place that a text is taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldPlace {
    /// The header of this name, in lower case.
    Header(Cow<'static, str>),
    /// What this RFC 6901 pointer leads to in a JSON body.
    JsonPointer(Cow<'static, str>),
}
