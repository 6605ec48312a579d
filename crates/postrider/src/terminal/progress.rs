//! How far something is that takes longer than a moment: one line that is written over, for people alone.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// What is done sooner needs no line; and no faster than this can be read.
const STEP: Duration = Duration::from_millis(200);

pub(crate) struct Progress {
    what: &'static str,
    shown_at: Instant,
    is_shown: bool,
    is_terminal: bool,
}

impl Progress {
    pub(crate) fn new(what: &'static str) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Progress { what, shown_at: Instant::now(), is_shown: false, is_terminal }
    }

    pub(crate) fn at(&mut self, done: u64, total: Option<u64>) {
        if !self.is_terminal || self.shown_at.elapsed() < STEP {
            return;
        }
        self.shown_at = Instant::now();
        self.is_shown = true;
        let line = match total.filter(|total| *total > 0) {
            Some(total) => {
                format!("{} {done} of {total} ({} %)", self.what, done.saturating_mul(100) / total)
            }
            None => format!("{} {done}", self.what),
        };
        eprint!("\r{line}\x1b[K");
        let _ = std::io::stderr().flush();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            eprint!("\r\x1b[K");
        }
    }
}
