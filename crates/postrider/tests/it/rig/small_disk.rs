//! A disk that is quickly full: a tmpfs of its own.

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::ffi::CString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) struct SmallDisk {
    directory: TempDir,
}

impl SmallDisk {
    pub(crate) fn new(bytes: usize) -> Self {
        SmallDisk::mounted(bytes, MountFlags::empty())
    }

    /// One on which nothing can be written.
    pub(crate) fn read_only() -> Self {
        SmallDisk::mounted(1 << 20, MountFlags::RDONLY)
    }

    fn mounted(bytes: usize, flags: MountFlags) -> Self {
        let directory =
            TempDir::with_prefix("postrider-disk-").expect("there is a place for temporary files");
        let options = CString::new(format!("size={bytes},mode=0700")).expect("no NUL in it");
        mount("tmpfs", directory.path(), "tmpfs", flags, options.as_c_str()).unwrap_or_else(|error| {
            panic!("this test mounts a tmpfs, which was refused ({error}); run the tests as root on Linux")
        });
        SmallDisk { directory }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A file that takes space until it is removed.
    pub(crate) fn ballast(&self, bytes: usize) -> PathBuf {
        let path = self.path().join("ballast");
        let written = File::create(&path).and_then(|mut file| file.write_all(&vec![1; bytes]));
        written.expect("the ballast fits");
        path
    }

    /// A file that takes the last byte.
    pub(crate) fn plug(&self) -> PathBuf {
        let path = self.path().join("plug");
        let mut file = File::create(&path).expect("a name takes no space");
        while file.write_all(&[1; 512]).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    /// Detached, so that a process that still has a file open on it does not keep it in the tree.
    fn drop(&mut self) {
        let _ = unmount(self.directory.path(), UnmountFlags::DETACH);
    }
}
