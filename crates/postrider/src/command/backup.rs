//! `postrider backup` and `restore`: a data directory copied while a gateway runs on it, and put in place again.

use super::Run;
use super::unfinished::into_place;
use crate::terminal::{Progress, counted, say, say_json};
use anyhow::ensure;
use clap::Args;
use postrider_sqlite::{Copied, audit, back_up};
use postrider_store::DeliveryAudit;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct BackupArgs {
    /// Target; must not exist yet
    #[arg(value_name = "DIR")]
    to: PathBuf,
    /// Data directory of a gateway on this machine, running or stopped
    #[arg(long, value_name = "DIR", default_value = "postrider-data")]
    data_dir: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct RestoreArgs {
    /// Backup made by `postrider backup`
    #[arg(value_name = "DIR")]
    from: PathBuf,
    /// Target; must not exist yet
    #[arg(long, value_name = "DIR", default_value = "postrider-data")]
    data_dir: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Run for BackupArgs {
    fn run(&self) -> anyhow::Result<()> {
        let (copied, audit) = copy(&self.data_dir, &self.to)?;
        if self.json {
            return say_json(&figures(&copied, &audit));
        }
        let keys =
            if self.to.join("secret.key").exists() { "; it includes the key of its secrets" } else { "" };
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
        say(&format!("{sentence}; start it with `postrider serve --data-dir {place}`\n"))
    }
}

/// What was copied is walked before anyone relies on it. What is not whole does not stay.
fn copy(from: &Path, to: &Path) -> anyhow::Result<(Copied, DeliveryAudit)> {
    ensure!(from.join("live.db").exists(), "no gateway data in {}", from.display());
    into_place(to, |unfinished| {
        let progress = Progress::new("bytes copied");
        let copied = back_up(from, unfinished, |bytes, total| progress.at(bytes, Some(total)))?;
        drop(progress);
        let progress = Progress::new("events of the copy checked");
        let audit = audit(unfinished, |done, total| progress.at(done, Some(total)))?;
        drop(progress);
        ensure!(
            audit.is_clean(),
            "the data in {} is damaged: {}, {}, {:?}; run `postrider verify` for details",
            from.display(),
            counted(audit.orphans, "orphan"),
            counted(audit.strays, "stray row"),
            audit.damage
        );
        Ok((copied, audit))
    })
}

fn figures(copied: &Copied, audit: &DeliveryAudit) -> serde_json::Value {
    json!({ "files": copied.files, "bytes": copied.bytes, "events": audit.events, "owed": audit.owed, "orphans": audit.orphans })
}

fn sentence(copied: &Copied, audit: &DeliveryAudit, to: &Path) -> String {
    let [files, bytes, events] = [(copied.files, "file"), (copied.bytes, "byte"), (audit.events, "event")]
        .map(|(count, noun)| counted(count, noun));
    format!("{files}, {bytes} in {}: {events}, {} pending, orphans = 0", to.display(), audit.owed)
}
