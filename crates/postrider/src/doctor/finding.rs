//! Something that is not as it should be, and what to do about it.

use serde_json::{Value, json};

/// How bad it is. The worst decides how the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// Good to know.
    Note,
    /// It will get worse if nobody looks.
    Warning,
    /// Events are refused, or nothing moves.
    Critical,
}

impl Severity {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Critical => "critical",
        }
    }
}

/// A diagnosis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    /// A word for a program; it does not change.
    pub(crate) code: &'static str,
    /// What is wrong, in one sentence.
    pub(crate) sentence: String,
    /// What to do, as commands; what comes first is tried first.
    pub(crate) next: Vec<String>,
}

impl Finding {
    pub(crate) fn new(severity: Severity, code: &'static str, sentence: String) -> Self {
        Finding { severity, code, sentence, next: Vec::new() }
    }

    pub(crate) fn next(mut self, command: impl Into<String>) -> Self {
        self.next.push(command.into());
        self
    }

    /// What is left out when there is nothing to advise.
    pub(crate) fn maybe(self, command: Option<String>) -> Self {
        match command {
            Some(command) => self.next(command),
            None => self,
        }
    }

    pub(crate) fn nexts(mut self, commands: &[&str]) -> Self {
        self.next.extend(commands.iter().map(|command| (*command).to_owned()));
        self
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "severity": self.severity.as_str(),
            "code": self.code,
            "diagnosis": self.sentence,
            "next": self.next,
        })
    }
}
