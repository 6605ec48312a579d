//! A run as one table for a terminal.

use crate::check::{Tally, Verdict};

/// Room for as many as a long run has.
const WIDTH: usize = 7;

/// A line for each destination, and one for all.
pub fn render(verdict: &Verdict) -> String {
    let rows: Vec<(String, Tally)> = verdict.tallies.iter().cloned().chain([all(verdict)]).collect();
    lines(&rows)
}

/// The line for all alone.
pub fn render_all(verdict: &Verdict) -> String {
    lines(&[all(verdict)])
}

fn all(verdict: &Verdict) -> (String, Tally) {
    ("all".to_owned(), verdict.total())
}

fn lines(rows: &[(String, Tally)]) -> String {
    let first = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let names = Tally::default().columns().map(|(name, _)| format!("{name:>WIDTH$}"));
    let mut lines = vec![format!("{:first$}  {}", "", names.join("  "))];
    for (name, tally) in rows {
        let cells = tally
            .columns()
            .map(|(column, count)| format!("{count:>width$}", width = column.len().max(WIDTH)));
        lines.push(format!("{name:first$}  {}", cells.join("  ")));
    }
    lines.join("\n") + "\n"
}

/// How much of what arrived could have come again without being found out: the less, the more it says that nothing did.
pub fn excusable(verdict: &Verdict, arrivals: usize) -> String {
    let percent = 100.0 * verdict.excusable as f64 / arrivals.max(1) as f64;
    format!("{percent:.1} % of arrivals were within a fault that could explain a second one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_stands_under_its_name() {
        let tally = Tally { ok: 7, over_concurrency: 12, ..Tally::default() };
        let verdict =
            Verdict { tallies: vec![("/one".to_owned(), tally)], findings: Vec::new(), excusable: 0 };
        let text = render(&verdict);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        let end = |name: &str| lines[0].find(name).unwrap() + name.len();
        assert_eq!(&lines[1][end("over-concurrency") - 2..end("over-concurrency")], "12");
        assert!(lines[1].starts_with("/one") && lines[2].starts_with("all "));
        let shortened = [lines[0].strip_prefix(' ').unwrap(), &lines[2].replacen("all ", "all", 1)];
        assert_eq!(render_all(&verdict).lines().collect::<Vec<_>>(), shortened);
    }

    #[test]
    fn what_a_fault_could_explain_is_told_as_a_share_of_what_arrived() {
        let told = |excused: usize, arrivals: usize| {
            excusable(&Verdict { tallies: Vec::new(), findings: Vec::new(), excusable: excused }, arrivals)
        };
        assert_eq!(told(157, 500), "31.4 % of arrivals were within a fault that could explain a second one");
        assert!(told(0, 0).starts_with("0.0 % "), "of a run in which nothing came");
    }
}
