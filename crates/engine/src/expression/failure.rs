//! Why an expression gave nothing of use for an event, in words for whoever wrote it.

use super::position::quotable;
use cel::ExecutionError;
use postrider_core::limits::BODY_VALUES_MAX;
use std::fmt;

/// A part of a sentence, such as "there is no field amount". It quotes little of the event and is never long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(String);

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Failure(text.into())
    }

    pub(super) fn too_much_work(body_bytes: usize) -> Self {
        Failure(format!("it is too much work for a body of {body_bytes} bytes"))
    }

    pub(super) fn too_many_values() -> Self {
        Failure(format!("the body has more than {BODY_VALUES_MAX} values"))
    }

    pub(crate) fn header(name: &str, why: &str) -> Self {
        Failure(format!("the header {} cannot be set: {why}", quotable(name)))
    }

    pub(crate) fn not_legal() -> Self {
        Failure::new("it is not legal in this version of the gateway")
    }

    /// The interpreter broke on some value.
    pub(super) fn broken() -> Self {
        Failure::new("it cannot be evaluated for this event")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl From<ExecutionError> for Failure {
    /// Values are left out: they may be as large as the body.
    fn from(error: ExecutionError) -> Self {
        Failure(match error {
            ExecutionError::NoSuchKey(key) => format!("there is no field {}", quotable(&key)),
            ExecutionError::NoSuchOverload(what) => misused(what.function(), what.argument_types()),
            ExecutionError::UnexpectedType { got, want } => {
                format!("there is {} where {} is wanted", quotable(&got), quotable(&want))
            }
            ExecutionError::FunctionError { function, message } => {
                format!("{}() fails: {}", quotable(&function), quotable(&message))
            }
            ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
                "it divides by zero".into()
            }
            ExecutionError::Overflow(..) => "a number becomes too large".into(),
            ExecutionError::IndexOutOfBounds(_) => "a list is shorter than the index".into(),
            ExecutionError::DuplicateKey(_) => "a map has the same field twice".into(),
            _ => "a value is of a type that cannot be used there".into(),
        })
    }
}

/// The interpreter's names of operators are `_>_`, `@in` and the like.
fn misused(function: &str, types: &[String]) -> String {
    match (function, types) {
        ("_._", [within, ..]) => format!("{} has no fields", quotable(within)),
        (name, types) => {
            let name = name.replace(['_', '@'], "");
            format!("{name} cannot be applied to {}", quotable(&types.join(" and ")))
        }
    }
}
