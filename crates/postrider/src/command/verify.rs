//! `postrider verify`: whether every delivery of a data directory or a database is delivered, dead or owed.

use super::Run;
use crate::config::database_url;
use crate::terminal::{Progress, clean, counted, say, say_json};
use anyhow::{anyhow, ensure};
use clap::Args;
use postrider_store::DeliveryAudit;
use serde_json::json;
use std::path::{Path, PathBuf};

const DATA_DIR_DEFAULT: &str = "postrider-data";
/// A URL may have a password in it, and everyone on the machine can read its command lines.
const URL_VARIABLE: &str = "POSTRIDER_DATABASE_URL";

#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// Data directory of a stopped gateway, or of one on this machine [default: postrider-data]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// PostgreSQL database instead; nodes may be running on it [default: POSTRIDER_DATABASE_URL, without --data-dir]
    #[arg(long, value_name = "URL", conflicts_with = "data_dir")]
    database_url: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Run for VerifyArgs {
    fn run(&self) -> anyhow::Result<()> {
        let progress = Progress::new("events checked");
        let audit = self.audit(|done, total| progress.at(done, Some(total)))?;
        drop(progress);
        let said = if self.json { say_json(&json(&audit)) } else { say(&text(&audit)) };
        said?;
        ensure!(audit.damage.is_empty(), "{}", audit.damage.join("; "));
        ensure!(
            audit.is_clean(),
            "{} lost, {}",
            counted(audit.orphans, "delivery"),
            counted(audit.strays, "stray queue row")
        );
        Ok(())
    }
}

impl VerifyArgs {
    fn audit(&self, progress: impl FnMut(u64, u64)) -> anyhow::Result<DeliveryAudit> {
        let variable = || std::env::var(URL_VARIABLE).ok().filter(|url| !url.is_empty());
        let (from, url) = match (&self.data_dir, &self.database_url) {
            (Some(directory), _) => return audit_directory(directory, progress),
            (None, Some(url)) => ("--database-url", Some(url.clone())),
            (None, None) => (URL_VARIABLE, variable()),
        };
        let Some(url) = url else { return audit_directory(Path::new(DATA_DIR_DEFAULT), progress) };
        let url = database_url(&url).map_err(|why| anyhow!("{from} {why}"))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(runtime.block_on(postrider_postgres::audit(&url, progress))?)
    }
}

fn audit_directory(directory: &Path, progress: impl FnMut(u64, u64)) -> anyhow::Result<DeliveryAudit> {
    ensure!(
        directory.join("live.db").exists(),
        "no gateway data in {}; use --data-dir for another directory, or --database-url for a database",
        directory.display()
    );
    Ok(postrider_sqlite::audit(directory, progress)?)
}

fn json(audit: &DeliveryAudit) -> serde_json::Value {
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

fn text(audit: &DeliveryAudit) -> String {
    let DeliveryAudit { segments, events, delivered, dead, owed, orphans, strays, .. } = audit;
    let (events, segments) = (counted(*events, "event"), counted(*segments, "segment"));
    let dead = counted(*dead, "dead letter");
    let mut out = format!(
        "{events} in {segments}: {delivered} delivered, {dead}, {owed} pending\n\
         orphans = {orphans}, strays = {strays}\n"
    );
    for id in &audit.orphaned {
        out.push_str(&format!("  {id} is neither delivered nor pending nor a dead letter\n"));
    }
    audit.damage.iter().for_each(|said| out.push_str(&format!("  {}\n", clean(said))));
    out
}
