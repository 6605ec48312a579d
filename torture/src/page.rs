//! Writes the page of promises with the results of a run.

use crate::args::{Args, Stores};
use anyhow::Context as _;
use postrider_torture::fleet::Store;
use postrider_torture::promises::{Results, render};
use postrider_torture::run::Outcome;
use postrider_torture::table;
use std::path::Path;

/// A shorter run does not see every fault often enough to say something.
pub(crate) const SECONDS_MIN: u64 = 300;

/// A run in a sentence and a table; of one without faults the table is a line.
pub(crate) fn result(args: &Args, store: Store, seed: u64, outcome: &Outcome) -> String {
    let (posted, arrived) = (outcome.history.posted.len(), outcome.history.arrivals.len());
    let (seconds, faults, deeds) = (args.seconds(), outcome.log.faults.len(), outcome.log.deeds.len());
    let (drained, looked_at) = (outcome.drained_in.as_secs_f64(), outcome.history.records.len());
    if args.calm {
        return format!(
            "{} {seconds} s, seed {seed}: {posted} events posted, {arrived} requests arrived; drained in {drained:.1} s; \
             {looked_at} delivery records checked.\n\n```text\n{}```\n",
            beginning(store),
            table::render_all(&outcome.verdict)
        );
    }
    format!(
        "{} {seconds} s, seed {seed}: {posted} events posted, {arrived} requests arrived, {deeds} faults injected, of \
         which {faults} may have cut attempts off; drained in {drained:.1} s; {looked_at} delivery records \
         checked; {}.\n\n```text\n{}```\n",
        beginning(store),
        table::excusable(&outcome.verdict, arrived),
        table::render(&outcome.verdict)
    )
}

/// Where it was asked for, if this run shows enough. A store that was not run keeps what is on the page.
pub(crate) fn write(args: &Args, results: &[(Store, String)]) -> anyhow::Result<()> {
    let Some(path) = &args.guarantees else { return Ok(()) };
    if let Some(why) = too_little(args) {
        println!("{} stays as it is: {why}", path.display());
        return Ok(());
    }
    let page = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.with_context(|| format!("read {}", path.display()))?,
    };
    let mut shown = Results::of(&page).unwrap_or_default();
    let place = if args.calm { &mut shown.clean } else { &mut shown.faults };
    *place = merged(place, results);
    write_page(path, &shown)
}

/// Writes the page anew with the results that it has.
pub(crate) fn keep_results(args: &Args) -> anyhow::Result<()> {
    let path = args.guarantees.as_ref().context("--keep-results needs --guarantees")?;
    let page = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let results = Results::of(&page).with_context(|| format!("{} has no results", path.display()))?;
    write_page(path, &results)
}

fn write_page(path: &Path, results: &Results) -> anyhow::Result<()> {
    std::fs::write(path, render(results)).with_context(|| format!("write {}", path.display()))
}

/// Why a run shows too little to stand on the page, if it does.
fn too_little(args: &Args) -> Option<String> {
    let seconds = args.seconds();
    (seconds < SECONDS_MIN)
        .then(|| format!("a run of {seconds} s shows too little, it takes {SECONDS_MIN} s"))
}

/// One block for each store: of this run, or else the one that was there.
fn merged(before: &str, results: &[(Store, String)]) -> String {
    let block = |store: Store| {
        let new = results.iter().find(|(of, _)| *of == store).map(|(_, result)| result.as_str());
        new.or_else(|| block_of(before, store)).map(str::trim)
    };
    let blocks: Vec<&str> = Stores::Both.all().into_iter().filter_map(block).collect();
    blocks.join("\n\n")
}

/// From the name of its store to that of the next.
fn block_of(results: &str, store: Store) -> Option<&str> {
    let block = &results[results.find(&beginning(store))?..];
    let end = block.find("\n**").unwrap_or(block.len());
    Some(&block[..end])
}

/// What the result of a store begins with.
fn beginning(store: Store) -> String {
    format!("**{}**,", store.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    const BEFORE: &str = "**embedded**, old.\n\n```text\none\n```\n\n**postgres**, old.\n\n```text\ntwo\n```";

    /// The results on a page that had those before in both places, after a run by these flags with results of these stores.
    fn written(flags: &[&str], stores: &[Store]) -> Results {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("guarantees.md");
        std::fs::write(&path, render(&before())).unwrap();
        let name = path.to_str().unwrap();
        let asked = [&["scripts/torture", "--binary", "postrider", "--guarantees", name][..], flags].concat();
        let new = |store: &Store| (*store, format!("{} new.\n\n```text\n```\n", beginning(*store)));
        let results: Vec<(Store, String)> = stores.iter().map(new).collect();
        write(&Args::parse_from(asked), &results).unwrap();
        Results::of(&std::fs::read_to_string(&path).unwrap()).unwrap()
    }

    fn before() -> Results {
        Results { faults: BEFORE.to_owned(), clean: BEFORE.to_owned() }
    }

    #[test]
    fn a_run_of_less_than_five_minutes_leaves_the_page_as_it_is() {
        let both = [Store::Embedded, Store::Postgres];
        for flags in
            [&["--calm", "--seconds", "299"][..], &["--seconds", "299"], &["--soak", "--seconds", "1"]]
        {
            assert_eq!(written(flags, &both), before(), "{flags:?}");
        }
    }

    #[test]
    fn a_run_without_faults_and_one_with_them_leave_each_other_s_place_as_it_is() {
        let both = [Store::Embedded, Store::Postgres];
        for flags in [&[][..], &["--seconds", "300"], &["--soak"]] {
            let Results { faults, clean } = written(flags, &both);
            assert_eq!((faults == BEFORE, clean == BEFORE), (false, true), "{flags:?}");
        }
        for flags in [&["--calm"][..], &["--calm", "--rate", "1000", "--seconds", "1010"]] {
            let Results { faults, clean } = written(flags, &both);
            assert_eq!((faults == BEFORE, clean == BEFORE), (true, false), "{flags:?}");
        }
    }

    #[test]
    fn a_run_of_one_store_keeps_what_is_there_of_the_other() {
        let new = |name: &str| format!("**{name}**, new.\n\n```text\n```");
        let (embedded, postgres) = BEFORE.split_once("\n\n**postgres").unwrap();
        let postgres = format!("**postgres{postgres}");
        let rows = [
            (&[Store::Embedded][..], [new("embedded"), postgres]),
            (&[Store::Postgres], [embedded.to_owned(), new("postgres")]),
            (&[Store::Embedded, Store::Postgres], [new("embedded"), new("postgres")]),
        ];
        for (stores, expected) in rows {
            let expected = expected.join("\n\n");
            assert_eq!(written(&[], stores).faults, expected, "{stores:?}");
            assert_eq!(written(&["--calm"], stores).clean, expected, "{stores:?}");
        }
    }
}
