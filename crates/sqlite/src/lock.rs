//! One process per data directory, held by locks that the kernel releases with the process: of the directory itself, and of
//! a file in it for where directories cannot be locked. Whoever tidies up may delete the file.

use crate::error::OpenError;
use crate::segment;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A data directory that is ours alone until this is dropped.
pub struct DataDirectory {
    path: PathBuf,
    _locks: [File; 2],
}

impl DataDirectory {
    /// Makes it if it is not there, and takes it.
    pub fn take(path: &Path) -> Result<Self, OpenError> {
        let refuse = |cause| OpenError::Directory { path: path.to_owned(), cause };
        make(path).map_err(refuse)?;
        let open = OpenOptions::new().create(true).truncate(false).write(true).open(path.join("lock"));
        let (file, directory) = (open.map_err(refuse)?, File::open(path).map_err(refuse)?);
        let lock = |what: &File| match flock(what, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Err(OpenError::InUse(path.to_owned())),
            locked => Ok(locked),
        };
        // Some network file systems lock files alone.
        let _of_directory = lock(&directory)?;
        lock(&file)?.map_err(|errno| refuse(errno.into()))?;
        Ok(DataDirectory { path: path.to_owned(), _locks: [directory, file] })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn make(path: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(segment::folder(path))?;
    // Events and secrets are in here: nobody else reads them, whatever made the directory.
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}
