//! A disk that fails on demand: `disk.c`, between the gateway and the kernel.

use super::undo::{Taken, take_back};
use crate::rig::random::Random;
use crate::rig::{Site, preload};
use std::fs;
use std::path::PathBuf;

/// What the disk can be made to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// A sync fails.
    SyncFails,
    /// A sync of a database fails, and those of its log do not: it is what a checkpoint ends with.
    DatabaseSyncFails,
    /// A sync does not return.
    SyncHangs,
    /// A sync says that it is done, and nothing is safe.
    SyncLies,
    /// A write fails.
    WriteFails,
    /// A write takes half of what it is given.
    WriteIsShort,
}

impl Fault {
    fn file(self) -> &'static str {
        match self {
            Fault::SyncFails => "eio-sync",
            Fault::DatabaseSyncFails => "eio-sync-database",
            Fault::SyncHangs => "hold-sync",
            Fault::SyncLies => "lying-sync",
            Fault::WriteFails => "eio-write",
            Fault::WriteIsShort => "short",
        }
    }
}

/// What a loss of power leaves of the writes that no sync had made safe.
#[derive(Clone, Copy, Debug)]
pub(super) enum Left {
    Nothing,
    /// Some sectors of 512 bytes, by chance.
    Some,
}

pub(super) struct Disk {
    pub(super) site: Site,
    notes: PathBuf,
}

impl Disk {
    /// A site whose data is on such a disk.
    pub(super) fn new() -> Self {
        Disk::with(&[])
    }

    /// The same with these flags of the gateway.
    pub(super) fn with(args: &[&str]) -> Self {
        let site = Site::new().with(args);
        let notes = site.path().join("notes");
        fs::create_dir(&notes).expect("the directory is ours");
        let site =
            site.variable("LD_PRELOAD", preload::library("storage/disk.c")).variable("DISK_NOTES", &notes);
        let under = site.data_dir().to_owned();
        Disk { site: site.variable("DISK_UNDER", under), notes }
    }

    pub(super) fn begin(&self, fault: Fault) {
        fs::write(self.notes.join(fault.file()), "").expect("the directory is ours");
    }

    pub(super) fn end(&self, fault: Fault) {
        fs::remove_file(self.notes.join(fault.file())).expect("the fault was begun");
    }

    /// The files of which a sync was asked for, in order.
    pub(super) fn syncs(&self) -> Vec<String> {
        let lines = fs::read_to_string(self.notes.join("syncs")).expect("the gateway has run");
        lines.lines().map(str::to_owned).collect()
    }

    /// Takes back what no sync had made safe. The gateway must be dead.
    pub(super) fn lose_power(&self, left: Left, random: &mut Random) -> Taken {
        let undo = self.notes.join("undo");
        let taken = take_back(&fs::read(&undo).expect("the gateway has run"), left, random);
        fs::write(&undo, "").expect("the directory is ours");
        taken
    }
}
