//! What the commands print, and how: tables that fit, colours for people alone, and nothing that a sender of events
//! could have put there to steer a terminal.

mod clean;
mod confirm;
mod count;
mod interruption;
mod progress;
mod screen;
mod table;

pub(crate) use self::clean::{clean, clean_lines, json};
pub(crate) use self::confirm::confirm;
pub(crate) use self::count::counted;
pub(crate) use self::interruption::Interruption;
pub(crate) use self::progress::Progress;
pub(crate) use self::screen::{Screen, Tone};
pub(crate) use self::table::{Cell, Column, Table};

use anyhow::Context as _;
use serde_json::Value;
use std::io::Write as _;

/// To the standard output; text that was not made clean must not come here.
pub(crate) fn say(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("write the answer")
}

/// For programs, and readable all the same.
pub(crate) fn say_json(value: &Value) -> anyhow::Result<()> {
    say(&format!("{}\n", json(&format!("{value:#}"))))
}

/// One of many, on a line of its own.
pub(crate) fn say_json_line(value: &Value) -> anyhow::Result<()> {
    say(&format!("{}\n", json(&value.to_string())))
}
