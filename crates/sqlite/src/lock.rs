//! One process per data directory, held by a file lock that the kernel releases with the process.

use crate::error::OpenError;
use crate::segment;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A data directory that is ours alone until this is dropped.
pub struct DataDirectory {
    path: PathBuf,
    _lock: File,
}

impl DataDirectory {
    /// Makes it if it is not there, and takes it.
    pub fn take(path: &Path) -> Result<Self, OpenError> {
        let refuse = |cause| OpenError::Directory { path: path.to_owned(), cause };
        make(path).map_err(refuse)?;
        let open = OpenOptions::new().create(true).truncate(false).write(true).open(path.join("lock"));
        let file = open.map_err(refuse)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(DataDirectory { path: path.to_owned(), _lock: file }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(OpenError::InUse(path.to_owned())),
            Err(errno) => Err(refuse(errno.into())),
        }
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
