//! A wall clock of a gateway's own that can be set to any time while it runs: `time/clock.c`.

use super::{Site, preload};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

pub(crate) struct WallClock {
    file: PathBuf,
}

impl WallClock {
    /// Gives a site such a clock, right at first.
    pub(crate) fn of(site: Site) -> (Self, Site) {
        let clock = WallClock { file: site.path().join("clock") };
        std::fs::write(&clock.file, [0; 8]).expect("the directory is ours");
        let site = site.variable("LD_PRELOAD", preload::library("time/clock.c"));
        let site = site.variable("CLOCK_FILE", &clock.file);
        (clock, site)
    }

    /// From now on it is wrong by so many seconds.
    pub(crate) fn wrong_by(&self, seconds: i64) {
        let nanoseconds = seconds.checked_mul(1_000_000_000).expect("within three centuries");
        let file = std::fs::OpenOptions::new().write(true).open(&self.file).expect("it was made");
        // In place and at once: it is mapped into the memory of the gateway.
        file.write_all_at(&nanoseconds.to_ne_bytes(), 0).expect("eight bytes fit");
    }
}
