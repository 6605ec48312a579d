//! Keys in files of the data directory, which the first start makes and the later ones find.

use anyhow::Context;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// More than any key file of ours holds.
const FILE_BYTES_MAX: u64 = 4096;

/// What a key file holds.
pub(super) enum KeyFile {
    /// From an earlier start.
    Found(String),
    /// Made just now.
    Made(String),
}

/// Reads a key file, or makes it. The data directory must be ours alone, so that no two make it at once.
pub(super) fn find_or_make(path: &Path, make: impl FnOnce() -> String) -> anyhow::Result<KeyFile> {
    match File::open(path) {
        Ok(file) => {
            let mut text = String::new();
            let read = file.take(FILE_BYTES_MAX).read_to_string(&mut text);
            read.with_context(|| format!("{} cannot be read", path.display()))?;
            Ok(KeyFile::Found(text))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let text = make();
            write(path, &text).with_context(|| format!("{} cannot be written", path.display()))?;
            Ok(KeyFile::Made(text))
        }
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

/// Put in place whole: a start that is cut off must not leave an empty file, which the next would refuse.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let unfinished = path.with_extension("key.new");
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    file.write_all(format!("{text}\n").as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&unfinished, path)?;
    // The name must be as lasting as what will depend on it.
    path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
}
