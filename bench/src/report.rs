//! All figures of a benchmark, and where they are published.

use crate::args::BenchArgs;
use crate::machine::Machine;
use crate::page;
use crate::scenario::backlog::Backlog;
use crate::scenario::comparison::Comparison;
use crate::scenario::throughput::Throughput;
use crate::table;
use anyhow::Context as _;
use serde::Serialize;
use std::io::Write as _;
use std::path::Path;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) throughput: Option<Throughput>,
    pub(crate) backlog: Option<Backlog>,
    pub(crate) comparisons: Vec<Comparison>,
}

impl Report {
    /// Prints the table, and writes the JSON and the page where asked to; `-` prints the JSON in place of the table.
    pub(crate) fn publish(&self, args: &BenchArgs) -> anyhow::Result<()> {
        let json = serde_json::to_string_pretty(self).context("write the figures as JSON")? + "\n";
        let json_to = args.json.as_deref();
        let to_stdout = json_to == Some(Path::new("-"));
        let text = if to_stdout { json.clone() } else { table::render(self) };
        // The table first: a file that cannot be written must not cost the figures of an hour.
        std::io::stdout().write_all(text.as_bytes()).context("print the figures")?;
        if let Some(file) = json_to.filter(|_| !to_stdout) {
            std::fs::write(file, &json).with_context(|| format!("write {}", file.display()))?;
        }
        args.page.as_ref().map_or(Ok(()), |file| page::write(self, file))
    }

    /// An error for a run that is to be judged and missed a goal.
    pub(crate) fn judge(&self, args: &BenchArgs) -> anyhow::Result<()> {
        let missed = missed(&self.comparisons);
        anyhow::ensure!(!args.enforce || missed.is_empty(), "missed: {}", missed.join("; "));
        Ok(())
    }
}

fn missed(comparisons: &[Comparison]) -> Vec<String> {
    let goals = comparisons.iter().flat_map(|made| made.goals.iter().map(move |goal| (made.scenario, goal)));
    let missed = goals.filter(|(_, goal)| !goal.held);
    missed.map(|(scenario, goal)| format!("{scenario}, {}", goal.what)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Goal;

    #[test]
    fn each_goal_that_was_missed_is_named() {
        let goals = vec![Goal::at_most("a", 1.0, 2.0), Goal::at_most("b", 3.0, 2.0)];
        let held = Comparison::new("flood", String::new(), ["", ""], vec![], goals[..1].to_vec());
        let one = Comparison::new("herd", String::new(), ["", ""], vec![], goals);
        assert_eq!(missed(&[held, one]), ["herd, b"]);
    }
}
