//! Writes the page of promises with the results of a run.

use crate::args::Args;
use anyhow::Context as _;
use postrider_torture::fleet::Store;
use postrider_torture::promises::{render, results_of};
use postrider_torture::run::Outcome;
use postrider_torture::table;

/// A run in a sentence and a table.
pub(crate) fn result(args: &Args, store: Store, seed: u64, outcome: &Outcome) -> String {
    let (posted, arrived) = (outcome.history.posted.len(), outcome.history.arrivals.len());
    let (seconds, faults, deeds) = (args.seconds(), outcome.log.faults.len(), outcome.log.deeds.len());
    let drained = outcome.drained_in.as_secs_f64();
    format!(
        "**{}**, {seconds} s, seed {seed}: {posted} events posted, {arrived} requests arrived, {deeds} deeds of the nemesis, of \
         which {faults} may have cut attempts off; drained in {drained:.1} s.\n\n```text\n{}```\n",
        store.name(),
        table::render(&outcome.verdict)
    )
}

/// Where it was asked for.
pub(crate) fn write(args: &Args, results: &[String]) -> anyhow::Result<()> {
    let Some(path) = &args.guarantees else { return Ok(()) };
    std::fs::write(path, render(&results.join("\n"))).with_context(|| format!("write {}", path.display()))
}

/// Writes the page anew with the results that it has.
pub(crate) fn keep_results(args: &Args) -> anyhow::Result<()> {
    let path = args.guarantees.as_ref().context("--keep-results needs --guarantees")?;
    let page = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let results = results_of(&page).with_context(|| format!("{} has no results", path.display()))?.to_owned();
    write(args, &[results])
}
