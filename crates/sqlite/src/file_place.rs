//! Whether a file is still where it was opened. One that was moved away, deleted or replaced can be written on, and whoever
//! opens the directory next finds nothing of it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A database and its log, which has what was committed last.
pub(crate) struct DatabasePlace {
    file: FilePlace,
    log: FilePlace,
}

impl DatabasePlace {
    /// Of a database that was opened just now. Its log may be made by what is written first.
    pub(crate) fn of(path: &Path) -> Self {
        let log = path.with_extension("db-wal");
        DatabasePlace { file: FilePlace::of(path), log: FilePlace { id: id(&log), path: log } }
    }

    /// Why what was written there is not safe, if it is not.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        self.file.check()?;
        match self.log.id {
            Some(_) => self.log.check(),
            None => {
                self.log.id = id(&self.log.path);
                Ok(())
            }
        }
    }
}

struct FilePlace {
    path: PathBuf,
    /// Device and number.
    id: Option<(u64, u64)>,
}

impl FilePlace {
    fn of(path: &Path) -> Self {
        FilePlace { path: path.to_owned(), id: id(path) }
    }

    fn check(&self) -> Result<(), String> {
        if self.id.is_some() && id(&self.path) == self.id {
            return Ok(());
        }
        let path = self.path.display();
        Err(format!("{path} was moved, deleted or replaced while the gateway was using it"))
    }
}

fn id(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}
