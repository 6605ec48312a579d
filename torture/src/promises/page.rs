//! The promises as a page. Only its results come from runs; the rest follows from the lists here.

use super::cases::CHAPTERS;
use super::guarantees::GUARANTEES;
use super::{Case, Chapter, Guarantee, Proof};

/// What stands around the results of runs with faults.
const RESULTS: [&str; 2] = ["<!-- results -->", "<!-- end of results -->"];
/// And around those of clean runs.
const CLEAN: [&str; 2] = ["<!-- clean runs -->", "<!-- end of clean runs -->"];
/// Stands in a place without a result.
const NOT_RUN: &str = "not run yet";

/// What a page shows of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// With faults.
    pub faults: String,
    /// Without.
    pub clean: String,
}

impl Results {
    /// Those that a page has. One from before clean runs had a place has none of them.
    pub fn of(page: &str) -> Option<Results> {
        let faults = between(page, RESULTS)?.to_owned();
        let clean = between(page, CLEAN).filter(|clean| *clean != NOT_RUN).unwrap_or_default().to_owned();
        Some(Results { faults, clean })
    }
}

fn between<'p>(page: &'p str, [begin, end]: [&str; 2]) -> Option<&'p str> {
    let (_, after) = page.split_once(begin)?;
    let (results, _) = after.split_once(end)?;
    Some(results.trim())
}

const HEAD: &str = "# What Postrider promises

Written by `scripts/torture --guarantees docs/guarantees.md`, not by hand: the promises, what covers each, the faults that must not \
break them, and the last result of the suite. With `--calm` the same command writes the result of a clean run.

The suite looks at the gateway from outside. Producers write a ledger of what they were answered; a sink logs what arrived, when, \
and how many at once; a nemesis with a seed kills, freezes, stops and cuts off, while receivers hang, reset, drip and fail and an \
operator pauses and changes limits. Then the faults stop, the backlog drains, and [a judge](../torture/src/check/mod.rs), which is \
itself tested with planted faults, holds the one against the other. Run it yourself: `scripts/torture --seconds 300`.

Some tests are short so that a change is judged soon. At full size they are run by:

```text
POSTRIDER_TEST_KILLS=50 cargo test -p postrider --test it faults::kill
POSTRIDER_TEST_DEAD_LETTERS=100000 cargo test -p postrider --test it faults::replay
POSTRIDER_TEST_EVENTS=100000 cargo test -p postrider --test it cluster::concurrency
PROFILE=release scripts/torture --calm --rate 1000 --seconds 1010 --guarantees docs/guarantees.md
postrider bench --scenario hanging --scenario flood --scenario storm --scenario critical --scenario overload
```

E: shown on the embedded store. P: on PostgreSQL with several nodes. B: on both. A dash: where events are kept has no \
part in it, and it is shown over a store in memory or the embedded one.
";

/// The page with these results.
pub fn render(results: &Results) -> String {
    let promises: Vec<String> = GUARANTEES.iter().map(guarantee).collect();
    let chapters: Vec<String> = CHAPTERS.iter().map(chapter).collect();
    let faults = place("The last result", RESULTS, &results.faults);
    let clean = place("A clean run", CLEAN, &results.clean);
    format!("{HEAD}\n## The promises\n\n{}\n{faults}\n{clean}\n{}", promises.concat(), chapters.join("\n"))
}

/// Results under their heading.
fn place(heading: &str, [begin, end]: [&str; 2], results: &str) -> String {
    let results = if results.trim().is_empty() { NOT_RUN } else { results.trim() };
    format!("## {heading}\n\n{begin}\n{results}\n{end}\n")
}

fn guarantee(guarantee: &Guarantee) -> String {
    let Guarantee { code, name, promise, columns, by } = guarantee;
    let columns: Vec<String> = columns.iter().map(|column| format!("`{column}` is 0 in every run")).collect();
    let shown: Vec<String> = columns.into_iter().chain(by.iter().map(proof)).collect();
    format!("- **{code} {name}.** {promise} Shown by: {}.\n", shown.join(", "))
}

fn chapter(chapter: &Chapter) -> String {
    let rows: Vec<String> = chapter.cases.iter().map(case).collect();
    format!("## {}\n\n| | | case | shown by |\n|---|---|---|---|\n{}", chapter.name, rows.concat())
}

fn case(case: &Case) -> String {
    let Case { code, stores, what, by } = case;
    let by: Vec<String> = by.iter().map(proof).collect();
    let by = if by.is_empty() { "nothing yet".to_owned() } else { by.join("<br>") };
    format!("| {code} | {stores} | {what} | {by} |\n")
}

fn proof(proof: &Proof) -> String {
    match proof {
        Proof::Test(file, name) => format!("[{}](../{file})", name.replace('_', " ")),
        Proof::Suite(deed) => format!("`scripts/torture`: {deed}"),
        Proof::Bench(name) => {
            format!("[`postrider bench --scenario {name}`](../bench/src/scenario/isolation/{name}.rs)")
        }
    }
}
