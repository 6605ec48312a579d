//! One process per data directory, held by a file lock that the kernel releases with the process.

use crate::error::OpenError;
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::path::Path;

pub(crate) struct DirectoryLock {
    _file: File,
}

impl DirectoryLock {
    pub(crate) fn take(directory: &Path) -> Result<Self, OpenError> {
        let path = directory.join("lock");
        let open = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = open.map_err(|cause| OpenError::Directory { path: directory.to_owned(), cause })?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(DirectoryLock { _file: file }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(OpenError::InUse(directory.to_owned())),
            Err(errno) => Err(OpenError::Directory { path: directory.to_owned(), cause: errno.into() }),
        }
    }
}
