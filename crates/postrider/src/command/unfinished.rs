//! A directory that is made under another name and gets its own when it is whole. Whatever ends the making in between, a
//! kill too, leaves nothing that could be taken for it, and what it leaves the next run takes away.
//!
//! The other name is `DIR.unfinished`. In it are `data`, which becomes `DIR`, and a file that says whose it is and is
//! locked for as long as somebody works on it: a lock ends with its process, however that ends.

use anyhow::{Context as _, bail, ensure};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

const SUFFIX: &str = ".unfinished";
/// By its name it is known that the directory is ours to take away.
const MARK: &str = "made-by-postrider";
const DATA: &str = "data";

/// Held by whoever makes `data`; what is left of it goes when it is dropped.
struct Unfinished {
    place: PathBuf,
    _lock: File,
}

/// Has a directory made, and gives it its name.
pub(super) fn into_place<T>(to: &Path, make: impl FnOnce(&Path) -> anyhow::Result<T>) -> anyhow::Result<T> {
    ensure!(!to.exists(), "{} already exists; choose another directory", to.display());
    let name = to.file_name().with_context(|| format!("{} is not a directory name", to.display()))?;
    let place = to.with_file_name([name, OsStr::new(SUFFIX)].join(OsStr::new("")));
    if clear(&place)? {
        eprintln!("removed {}, left by an interrupted run", place.display());
    }
    let unfinished = Unfinished::begin(place)?;
    let made = make(&unfinished.data())?;
    fs::rename(unfinished.data(), to).with_context(|| format!("cannot make {}", to.display()))?;
    drop(unfinished);
    // The name is on disk too, before anybody is told of it.
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced = File::open(parent).and_then(|parent| parent.sync_all());
    synced.with_context(|| format!("cannot write to {}", parent.display()))?;
    Ok(made)
}

impl Unfinished {
    fn begin(place: PathBuf) -> anyhow::Result<Unfinished> {
        let made = DirBuilder::new().mode(0o700).create(&place);
        made.with_context(|| format!("cannot make {}", place.display()))?;
        let lock = File::create_new(place.join(MARK)).and_then(|file| {
            file.lock()?;
            Ok(file)
        });
        let lock = lock.with_context(|| format!("cannot write to {}", place.display()))?;
        Ok(Unfinished { place, _lock: lock })
    }

    fn data(&self) -> PathBuf {
        self.place.join(DATA)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.place) {
            eprintln!("{} is incomplete: {error}", self.place.display());
        }
    }
}

/// Takes away what a run left that was cut off; whether there was any. What is not ours, or still being made, stays.
fn clear(place: &Path) -> anyhow::Result<bool> {
    let shown = place.display();
    match fs::symlink_metadata(place) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        found => ensure!(found?.is_dir(), "{shown} exists and is not a directory; move it first"),
    }
    // Cut off before it had a mark: an empty directory holds nothing of anybody's.
    if fs::remove_dir(place).is_ok() {
        return Ok(true);
    }
    let Ok(lock) = File::open(place.join(MARK)) else {
        bail!("{shown} exists and was not created by this command; move it first");
    };
    ensure!(lock.try_lock().is_ok(), "{shown} is being written by another run");
    remove(place).with_context(|| format!("cannot remove {shown}, left by an interrupted run"))?;
    Ok(true)
}

/// What such a directory holds, the mark last, so that whatever is left by a kill still has it. Not more: a file that
/// somebody else put there stays, and the directory with it.
fn remove(place: &Path) -> std::io::Result<()> {
    let gone = |removed: std::io::Result<()>| match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    };
    gone(fs::remove_dir_all(place.join(DATA)))?;
    gone(fs::remove_file(place.join(MARK)))?;
    fs::remove_dir(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(place: &Path) -> Vec<String> {
        let found = fs::read_dir(place).unwrap();
        found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn make(data: &Path) -> anyhow::Result<()> {
        Ok(fs::create_dir(data)?)
    }

    #[test]
    fn a_directory_has_its_name_only_when_it_is_whole() {
        let place = tempfile::tempdir().unwrap();
        let to = place.path().join("backup");
        let failed: anyhow::Result<()> = into_place(&to, |data| {
            make(data)?;
            bail!("half way: {:?}", names(place.path()))
        });
        // At any moment of the making a kill would have left this.
        assert_eq!(format!("{:#}", failed.unwrap_err()), "half way: [\"backup.unfinished\"]");
        assert!(names(place.path()).is_empty(), "what is not whole does not stay");
        into_place(&to, make).unwrap();
        assert_eq!(names(place.path()), ["backup"]);
        assert!(names(&to).is_empty(), "nothing but what was made is in it");
        assert!(into_place(&to, make).unwrap_err().to_string().contains("already exists"));
    }

    #[test]
    fn what_is_in_the_way_goes_only_if_it_was_left_by_one_that_was_cut_off() {
        let place = tempfile::tempdir().unwrap();
        let (to, unfinished) = (place.path().join("backup"), place.path().join("backup.unfinished"));
        let refused = || into_place(&to, make).unwrap_err().to_string();
        fs::write(&unfinished, "mine").unwrap();
        assert!(refused().contains("is not a directory"), "{}", refused());
        fs::remove_file(&unfinished).unwrap();
        fs::create_dir_all(unfinished.join(DATA)).unwrap();
        assert!(refused().contains("not created by this command"), "{}", refused());
        let running = File::create(unfinished.join(MARK)).unwrap();
        running.lock().unwrap();
        assert!(refused().contains("by another run"), "{}", refused());
        drop(running);
        fs::write(unfinished.join("notes.txt"), "mine").unwrap();
        assert!(refused().contains("cannot remove"), "{}", refused());
        assert_eq!(names(&unfinished), ["notes.txt"], "what is not ours stays");
        fs::remove_file(unfinished.join("notes.txt")).unwrap();
        into_place(&to, make).unwrap();
        assert_eq!(names(place.path()), ["backup"]);
    }
}
