//! `postrider verify`: whether every delivery of a data directory is delivered, dead or owed.

use super::Run;
use crate::terminal::{Progress, clean, say, say_json};
use anyhow::ensure;
use clap::Args;
use postrider_sqlite::Audit;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// Of a gateway that is stopped, or runs on this machine
    #[arg(long, value_name = "DIR", default_value = "postrider-data")]
    data_dir: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Run for VerifyArgs {
    fn run(&self) -> anyhow::Result<()> {
        let found = self.data_dir.join("live.db").exists();
        ensure!(
            found,
            "there is no data of a gateway in {}; --data-dir names another",
            self.data_dir.display()
        );
        let progress = Progress::new("events walked");
        let audit = Audit::of(&self.data_dir, |done, total| progress.at(done, Some(total)))?;
        drop(progress);
        let said = if self.json { say_json(&json(&audit)) } else { say(&text(&audit)) };
        said?;
        ensure!(audit.damage.is_empty(), "{}", audit.damage.join("; "));
        ensure!(
            audit.is_clean(),
            "{} deliveries are lost, {} too many are queued",
            audit.orphans,
            audit.strays
        );
        Ok(())
    }
}

fn json(audit: &Audit) -> serde_json::Value {
    json!({
        "segments": audit.segments,
        "events": audit.events,
        "delivered": audit.delivered,
        "dead_letter": audit.dead,
        "owed": audit.owed,
        "orphans": audit.orphans,
        "orphaned": audit.orphaned.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "strays": audit.strays,
        "damage": audit.damage,
    })
}

fn text(audit: &Audit) -> String {
    let Audit { segments, events, delivered, dead, owed, orphans, strays, .. } = audit;
    let mut out = format!(
        "{events} events in {segments} segments: {delivered} deliveries made, {dead} given up on, {owed} owed\n\
         orphans = {orphans}, strays = {strays}\n"
    );
    for id in &audit.orphaned {
        out.push_str(&format!("  {id} is neither delivered nor dead nor owed\n"));
    }
    audit.damage.iter().for_each(|said| out.push_str(&format!("  {}\n", clean(said))));
    out
}
