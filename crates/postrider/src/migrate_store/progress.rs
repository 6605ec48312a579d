//! How far a table is, about once a second, to whoever watches.

use std::time::{Duration, Instant};

const TELL: Duration = Duration::from_secs(1);

pub(super) struct Progress {
    name: &'static str,
    total: u64,
    done: u64,
    told: Instant,
}

impl Progress {
    pub(super) fn new(name: &'static str, total: u64) -> Self {
        eprintln!("{name}: {total} rows to move");
        Progress { name, total, done: 0, told: Instant::now() }
    }

    /// So many were moved by an earlier run.
    pub(super) fn skip(&mut self, done: u64) {
        self.done = done;
        if done > 0 {
            eprintln!("{}: {done} of {} already moved", self.name, self.total);
        }
    }

    pub(super) fn add(&mut self, rows: u64) {
        self.done += rows;
        if self.told.elapsed() >= TELL {
            self.told = Instant::now();
            self.tell();
        }
    }

    pub(super) fn end(&self) {
        self.tell();
    }

    fn tell(&self) {
        eprintln!("{}: {} of {}", self.name, self.done.min(self.total), self.total);
    }
}
