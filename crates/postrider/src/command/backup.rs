//! `postrider backup` and `restore`: a data directory copied while a gateway runs on it, and put in place again.

use super::Run;
use crate::terminal::{Progress, Waiting, say, say_json};
use anyhow::{Context as _, ensure};
use clap::Args;
use postrider_sqlite::{Audit, Copied, back_up};
use serde_json::json;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Behind the name of what is not whole yet.
const UNFINISHED: &str = ".unfinished";

#[derive(Args)]
pub(crate) struct BackupArgs {
    /// Where to; it must not be there yet
    #[arg(value_name = "DIR")]
    to: PathBuf,
    /// Of a gateway that runs on this machine, or is stopped
    #[arg(long, value_name = "DIR", default_value = "postrider-data")]
    data_dir: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct RestoreArgs {
    /// What `backup` made
    #[arg(value_name = "DIR")]
    from: PathBuf,
    /// Where to; it must not be there yet
    #[arg(long, value_name = "DIR", default_value = "postrider-data")]
    data_dir: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Run for BackupArgs {
    fn run(&self) -> anyhow::Result<()> {
        let (copied, audit) = copy(&self.data_dir, &self.to)?;
        if self.json {
            return say_json(&figures(&copied, &audit));
        }
        let keys = if self.to.join("secret.key").exists() { "; the key of its secrets is in it" } else { "" };
        say(&format!("{}{keys}\n", sentence(&copied, &audit, &self.to)))
    }
}

impl Run for RestoreArgs {
    fn run(&self) -> anyhow::Result<()> {
        let (copied, audit) = copy(&self.from, &self.data_dir)?;
        if self.json {
            return say_json(&figures(&copied, &audit));
        }
        let place = self.data_dir.display();
        let sentence = sentence(&copied, &audit, &self.data_dir);
        say(&format!("{sentence}; `postrider serve --data-dir {place}` goes on with it\n"))
    }
}

/// What was copied is walked before anyone relies on it. What is not whole does not stay.
fn copy(from: &Path, to: &Path) -> anyhow::Result<(Copied, Audit)> {
    ensure!(from.join("live.db").exists(), "there is no data of a gateway in {}", from.display());
    into_place(to, |beside| {
        let mut progress = Progress::new("copied bytes");
        let copied = back_up(from, beside, |bytes| progress.at(bytes, None))?;
        drop(progress);
        let waiting = Waiting::new("walking the copy");
        let audit = Audit::of(beside)?;
        drop(waiting);
        ensure!(
            audit.is_clean(),
            "what is in {} is not whole: {} orphans, {} strays, {:?}; `postrider verify` says more",
            from.display(),
            audit.orphans,
            audit.strays,
            audit.damage
        );
        Ok((copied, audit))
    })
}

/// Has a directory made under another name, and gives it its own when it is whole. Whatever ends this in between, a
/// kill too, leaves nothing that could be taken for it.
fn into_place<T>(to: &Path, make: impl FnOnce(&Path) -> anyhow::Result<T>) -> anyhow::Result<T> {
    ensure!(!to.exists(), "{} is there already; choose another directory", to.display());
    let name = to.file_name().with_context(|| format!("{} is no name of a directory", to.display()))?;
    let beside = to.with_file_name([name, OsStr::new(UNFINISHED)].join(OsStr::new("")));
    ensure!(!beside.exists(), "{} is left of a run that was cut off; delete it first", beside.display());
    let made = make(&beside).and_then(|made| {
        std::fs::rename(&beside, to).with_context(|| format!("cannot make {}", to.display()))?;
        // The name is on disk too, before anybody is told of it.
        let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let synced = std::fs::File::open(parent).and_then(|parent| parent.sync_all());
        synced.with_context(|| format!("cannot write to {}", parent.display()))?;
        Ok(made)
    });
    if made.is_err() && beside.exists() {
        // Made by us a moment ago: it was not there before.
        std::fs::remove_dir_all(&beside)
            .with_context(|| format!("{} is left half made", beside.display()))?;
    }
    made
}

fn figures(copied: &Copied, audit: &Audit) -> serde_json::Value {
    json!({ "files": copied.files, "bytes": copied.bytes, "events": audit.events, "owed": audit.owed, "orphans": audit.orphans })
}

fn sentence(copied: &Copied, audit: &Audit, to: &Path) -> String {
    let (files, bytes) = (copied.files, copied.bytes);
    format!(
        "{files} files, {bytes} bytes in {}: {} events, {} owed, orphans = 0",
        to.display(),
        audit.events,
        audit.owed
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_its_name_only_when_it_is_whole() {
        let place = tempfile::tempdir().unwrap();
        let to = place.path().join("backup");
        let names = || -> Vec<String> {
            let found = std::fs::read_dir(place.path()).unwrap();
            found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        };
        let failed: anyhow::Result<()> = into_place(&to, |beside| {
            std::fs::create_dir(beside)?;
            anyhow::bail!("half way: {:?}", names())
        });
        // At any moment of the making a kill would have left this.
        assert_eq!(format!("{:#}", failed.unwrap_err()), "half way: [\"backup.unfinished\"]");
        assert!(names().is_empty(), "what is not whole does not stay");
        let make = |beside: &Path| Ok(std::fs::create_dir(beside)?);
        into_place(&to, make).unwrap();
        assert_eq!(names(), ["backup"]);
        assert!(into_place(&to, make).unwrap_err().to_string().contains("is there already"));
        std::fs::create_dir(place.path().join("other.unfinished")).unwrap();
        let refused = into_place(&place.path().join("other"), make).unwrap_err().to_string();
        assert!(refused.contains("left of a run that was cut off"), "{refused}");
    }
}
