//! A run as one table for a terminal.

use crate::check::{Tally, Verdict};

/// Room for as many as a long run has.
const WIDTH: usize = 7;

/// A line for each destination, and one for all.
pub fn render(verdict: &Verdict) -> String {
    let total = ("all".to_owned(), verdict.total());
    let rows: Vec<&(String, Tally)> = verdict.tallies.iter().chain([&total]).collect();
    let first = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let names = total.1.columns().map(|(name, _)| format!("{name:>WIDTH$}"));
    let mut lines = vec![format!("{:first$}  {}", "", names.join("  "))];
    for (name, tally) in rows {
        let cells = tally
            .columns()
            .map(|(column, count)| format!("{count:>width$}", width = column.len().max(WIDTH)));
        lines.push(format!("{name:first$}  {}", cells.join("  ")));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_stands_under_its_name() {
        let tally = Tally { ok: 7, over_concurrency: 12, ..Tally::default() };
        let verdict = Verdict { tallies: vec![("/one".to_owned(), tally)], findings: Vec::new() };
        let text = render(&verdict);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        let end = |name: &str| lines[0].find(name).unwrap() + name.len();
        assert_eq!(&lines[1][end("over-concurrency") - 2..end("over-concurrency")], "12");
        assert!(lines[1].starts_with("/one") && lines[2].starts_with("all "));
    }
}
