//! What the commands print, and how: tables that fit, colours for people alone, and nothing that a sender of events
//! could have put there to steer a terminal.

mod clean;
mod confirm;
mod count;
mod interruption;
mod progress;
mod screen;
mod table;

pub(crate) use self::clean::{clean, clean_lines, json, steers};
pub(crate) use self::confirm::confirm;
pub(crate) use self::count::counted;
pub(crate) use self::interruption::Interruption;
pub(crate) use self::progress::Progress;
pub(crate) use self::screen::{Screen, Tone};
pub(crate) use self::table::{Cell, Column, Table};

use anyhow::Context as _;
use serde_json::Value;
use std::io::{ErrorKind, Write as _};

/// Whoever read our output has seen enough, as `head` does. A type of its own: a connection to somebody else breaks by the
/// same error of the system.
#[derive(Debug, thiserror::Error)]
#[error("the output is no longer read")]
pub(crate) struct ReaderGone;

/// To the standard output; text that was not made clean must not come here.
pub(crate) fn say(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

fn written(outcome: std::io::Result<()>) -> anyhow::Result<()> {
    match outcome {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(ReaderGone.into()),
        outcome => outcome.context("write the output"),
    }
}

/// For programs, and readable all the same.
pub(crate) fn say_json(value: &Value) -> anyhow::Result<()> {
    say(&format!("{}\n", json(&format!("{value:#}"))))
}

/// One of many, on a line of its own.
pub(crate) fn say_json_line(value: &Value) -> anyhow::Result<()> {
    say(&format!("{}\n", json(&value.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_has_gone_is_told_from_a_connection_that_broke() {
        let broken = || std::io::Error::from(ErrorKind::BrokenPipe);
        let said = written(Err(broken())).context("show the event").unwrap_err();
        assert!(said.is::<ReaderGone>());
        let sent = anyhow::Error::from(broken()).context("example.com did not answer");
        assert!(!sent.is::<ReaderGone>());
        assert!(!written(Err(ErrorKind::StorageFull.into())).unwrap_err().is::<ReaderGone>());
    }
}
