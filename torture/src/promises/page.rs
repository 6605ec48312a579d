//! The promises as a page. Only its results come from runs; the rest follows from the lists here.

use super::cases::CHAPTERS;
use super::guarantees::GUARANTEES;
use super::{Case, Chapter, Guarantee, Proof};

/// What stands around the results.
pub const RESULTS_BEGIN: &str = "<!-- results -->";
/// The end of them.
pub const RESULTS_END: &str = "<!-- end of results -->";

const HEAD: &str = "# What Postrider promises

Written by `scripts/torture --guarantees docs/guarantees.md`, not by hand: the promises, what covers each, the faults that must not \
break them, and the last result of the suite.

The suite looks at the gateway from outside. Producers write a ledger of what they were answered; a sink logs what arrived, when, \
and how many at once; a nemesis with a seed kills, freezes, stops and cuts off, while receivers hang, reset, drip and fail and an \
operator pauses and changes limits. Then the faults stop, the backlog drains, and [a judge](../torture/src/check/mod.rs), which is \
itself tested with planted faults, holds the one against the other. Run it yourself: `scripts/torture --seconds 300`.

Some tests are short so that a change is judged soon. At full size they are run by:

```text
POSTRIDER_TEST_KILLS=50 cargo test -p postrider --test it faults::kill
POSTRIDER_TEST_DEAD_LETTERS=100000 cargo test -p postrider --test it faults::replay
POSTRIDER_TEST_EVENTS=100000 cargo test -p postrider --test it cluster::concurrency
PROFILE=release scripts/torture --calm --rate 1000 --seconds 1010
postrider bench --scenario hanging --scenario flood --scenario storm --scenario critical --scenario overload
```

E: shown on the embedded store. P: on PostgreSQL with several nodes. B: on both. A dash: where events are kept has no \
part in it, and it is shown over a store in memory or the embedded one.
";

/// The page with these results.
pub fn render(results: &str) -> String {
    let promises: Vec<String> = GUARANTEES.iter().map(guarantee).collect();
    let chapters: Vec<String> = CHAPTERS.iter().map(chapter).collect();
    format!(
        "{HEAD}\n## The promises\n\n{}\n## The last result\n\n{RESULTS_BEGIN}\n{}\n{RESULTS_END}\n\n{}",
        promises.concat(),
        results.trim(),
        chapters.join("\n")
    )
}

/// The results that a page has.
pub fn results_of(page: &str) -> Option<&str> {
    let (_, after) = page.split_once(RESULTS_BEGIN)?;
    let (results, _) = after.split_once(RESULTS_END)?;
    Some(results.trim())
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
