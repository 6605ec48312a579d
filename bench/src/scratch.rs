//! A directory that is gone when its owner is.

use anyhow::Context as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that is gone when this value is dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new directory below `parent`, or below the system's temporary directory.
    pub fn create(parent: Option<&Path>) -> anyhow::Result<Scratch> {
        static CREATED: AtomicU32 = AtomicU32::new(0);
        let number = CREATED.fetch_add(1, Ordering::Relaxed);
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let path = parent.join(format!("postrider-{}-{number}", std::process::id()));
        // Not create_dir_all: a directory that exists is not ours to delete.
        std::fs::create_dir(&path).with_context(|| format!("create {}", path.display()))?;
        Ok(Scratch(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            crate::progress::progress!("{} is left behind: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_directory_goes_with_its_owner_and_what_is_in_it() {
        let (one, two) = (Scratch::create(None), Scratch::create(None));
        let (one, two) = (one.expect("one"), two.expect("two"));
        assert_ne!(one.path(), two.path());
        std::fs::write(one.path().join("file"), "x").expect("writable");
        let path = one.path().to_path_buf();
        drop(one);
        assert!(!path.exists());
        assert!(two.path().exists());
    }
}
