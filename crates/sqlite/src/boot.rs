//! Whether the system has run on since a data directory was last opened. If it has, all that was written is still
//! there, synced or not.

use std::fs;
use std::path::Path;

/// Of Linux; another system has none, and is then taken for one that was started anew.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Notes it for the next start, in the file that nobody else needs.
pub(crate) fn note(directory: &Path) -> std::io::Result<()> {
    fs::write(directory.join("lock"), fs::read_to_string(BOOT_ID).unwrap_or_default())
}

/// What has been on since a data directory was last opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    /// The same system: files are as they were written.
    SameStart,
    /// A start, perhaps after a loss of power: what was not synced may be there, be gone, or be of an earlier moment.
    NewStart,
}

pub(crate) fn since(directory: &Path) -> Since {
    let noted = fs::read_to_string(directory.join("lock")).unwrap_or_default();
    let is_same = !noted.is_empty() && fs::read_to_string(BOOT_ID).is_ok_and(|now| now == noted);
    if is_same { Since::SameStart } else { Since::NewStart }
}
