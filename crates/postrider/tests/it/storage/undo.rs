//! What a loss of power takes back, by the notes of `disk.c`.

use super::disk::Left;
use crate::rig::random::Random;
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Written as one: of these either all bytes or none are on the disk.
const SECTOR: usize = 512;
const HEAD: usize = 32;
const WRITTEN: u32 = 1;
const MADE: u32 = 2;

/// How much was taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) sectors: usize,
    pub(super) files: usize,
}

/// One thing that was done to a file.
struct Part<'a> {
    kind: u32,
    path: PathBuf,
    offset: u64,
    old: &'a [u8],
    old_size: u64,
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("it has the length that was asked for")
}

/// The first part, and the rest. The last may be cut off: its write was then never made.
fn first(notes: &[u8]) -> Option<(Part<'_>, &[u8])> {
    let (head, rest) = notes.split_at_checked(HEAD)?;
    let path_bytes = u32::from_ne_bytes(number(head, 4)) as usize;
    let old_bytes = u64::from_ne_bytes(number(head, 16)) as usize;
    let (path, rest) = rest.split_at_checked(path_bytes)?;
    let (old, rest) = rest.split_at_checked(old_bytes)?;
    let part = Part {
        kind: u32::from_ne_bytes(number(head, 0)),
        path: PathBuf::from(std::str::from_utf8(path).expect("our paths are text")),
        offset: u64::from_ne_bytes(number(head, 8)),
        old,
        old_size: u64::from_ne_bytes(number(head, 24)),
    };
    Some((part, rest))
}

pub(super) fn take_back(mut notes: &[u8], left: Left, random: &mut Random) -> Taken {
    let mut unsafe_parts: HashMap<PathBuf, Vec<Part<'_>>> = HashMap::new();
    let mut made: Vec<PathBuf> = Vec::new();
    while let Some((part, rest)) = first(notes) {
        notes = rest;
        match part.kind {
            WRITTEN => unsafe_parts.entry(part.path.clone()).or_default().push(part),
            MADE => made.push(part.path),
            _ => {
                unsafe_parts.remove(&part.path);
                // A name is safe once its directory is.
                made.retain(|path| path.parent() != Some(&part.path));
            }
        }
    }
    let mut taken = Taken::default();
    for (path, parts) in &unsafe_parts {
        taken.sectors += parts.iter().rev().map(|part| restore(path, part, left, random)).sum::<usize>();
    }
    for path in made.iter().filter(|path| path.exists()) {
        fs::remove_file(path).expect("the file is ours");
        taken.files += 1;
    }
    unsafe_parts.keys().for_each(|path| forget_index(path));
    taken
}

/// Puts back what was there before a write, sector by sector; gives the number of sectors.
fn restore(path: &Path, part: &Part<'_>, left: Left, random: &mut Random) -> usize {
    // Removed since, which is not taken back.
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return 0 };
    let mut sectors = 0;
    for (n, sector) in part.old.chunks(SECTOR).enumerate() {
        if matches!(left, Left::Some) && random.below(2) == 0 {
            continue;
        }
        file.write_all_at(sector, part.offset + (n * SECTOR) as u64).expect("the file is ours");
        sectors += 1;
    }
    let size = file.metadata().expect("it is open").len();
    // What was appended is gone, or is there in part.
    let is_cut = size > part.old_size && (matches!(left, Left::Nothing) || random.below(2) == 0);
    if is_cut {
        file.set_len(part.old_size).expect("the file is ours");
        sectors += (size - part.old_size).div_ceil(SECTOR as u64) as usize;
    }
    sectors
}

/// SQLite's index of its log is memory that happens to have a name.
fn forget_index(path: &Path) {
    let name = path.to_string_lossy();
    let file = name.strip_suffix("-wal").unwrap_or(&name);
    let _ = fs::remove_file(format!("{file}-shm"));
}
