//! A line for everything that happens, if someone wants to read it.

use postrider_core::time::Timestamp;

#[derive(Debug)]
pub(crate) struct Trace {
    lines: Option<Vec<String>>,
}

impl Trace {
    pub(crate) fn new(wanted: bool) -> Self {
        Trace { lines: wanted.then(Vec::new) }
    }

    /// The line is only made when someone wants it.
    pub(crate) fn note(&mut self, now: Timestamp, line: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.lines {
            lines.push(format!("{now} {}", line()));
        }
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}
