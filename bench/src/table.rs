//! The figures as a table for a terminal.

use crate::machine::Machine;
use crate::report::Report;
use crate::scenario::Comparison;
use crate::scenario::backlog::Backlog;
use crate::scenario::throughput::Throughput;
use crate::spread::Spread;
use crate::units::{figure, mebibytes, milliseconds, number};
use crate::verdict::Goal;

/// A label, and a column for each subject.
type Row = [String; 3];

pub(crate) fn render(report: &Report) -> String {
    let lines =
        machine(&report.machine).into_iter().chain(parts(report).into_iter().flat_map(|(_, lines)| lines));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// The tables, each with the name of what it shows.
pub(crate) fn parts(report: &Report) -> Vec<(&'static str, Vec<String>)> {
    let throughput = report.throughput.iter().map(|shown| ("throughput", throughput(shown)));
    let backlog = report.backlog.iter().map(|shown| ("backlog", backlog(shown)));
    let others = report.comparisons.iter().map(|shown| (shown.scenario, comparison(shown)));
    throughput.chain(backlog).chain(others).collect()
}

/// Where, and by which command.
pub(crate) fn machine(machine: &Machine) -> [String; 2] {
    let Machine { nproc, cpu_model, kernel, filesystem, load_average, command_line } = machine;
    [
        format!("{nproc} cores, {cpu_model}, Linux {kernel}, data on {filesystem}, load {load_average}"),
        command_line.join(" "),
    ]
}

fn throughput(throughput: &Throughput) -> Vec<String> {
    let title = format!(
        "Throughput: {} events of {} bytes, {} connections, {} destinations; median of {} (min–max)",
        number(throughput.events),
        number(throughput.size_bytes.into()),
        throughput.connections,
        throughput.destinations,
        throughput.rounds.len(),
    );
    let mut rows = vec![["", "forwarder", "gateway"].map(str::to_owned)];
    let gateway = &throughput.summary.gateway;
    for (forwarder, gateway) in throughput.summary.forwarder.iter().zip(gateway) {
        rows.push([forwarder.name.to_owned(), spread(forwarder.spread), spread(gateway.spread)]);
    }
    rows.push(["gateway by forwarder".to_owned(), String::new(), spread(throughput.summary.ratio)]);
    let ratios: Vec<String> = throughput.rounds.iter().map(|round| figure(round.ratio)).collect();
    rows.push(["  round by round".to_owned(), String::new(), ratios.join("  ")]);
    rows.push(["cpu, gateway by forwarder".to_owned(), String::new(), spread(throughput.summary.cpu_ratio)]);
    let total = |of: fn(&crate::scenario::run::Run) -> u64| {
        number(throughput.rounds.iter().map(|round| of(&round.gateway)).sum())
    };
    rows.push(["duplicates".to_owned(), String::new(), total(|run| run.duplicates)]);
    rows.push(["refusals".to_owned(), String::new(), total(|run| run.refused)]);
    titled(title, &rows)
}

fn backlog(backlog: &Backlog) -> Vec<String> {
    let (standing, restart) = (&backlog.standing, &backlog.restart);
    let title = format!(
        "Backlog: {} of {} events of {} bytes pending; healthy traffic {}/s",
        number(standing.filled.accepted),
        number(standing.filled.asked),
        number(backlog.size_bytes.into()),
        number(backlog.rate_per_s.into()),
    );
    let reported = standing.filled.pending_reported.map_or_else(|| "not said".to_owned(), number);
    let ms = |microseconds| figure(milliseconds(microseconds));
    let ms_of = |seconds: f64| figure(seconds * 1000.0);
    let mib = |bytes| figure(mebibytes(bytes));
    let (without, with, after) = (&standing.healthy_without, &standing.healthy_with, &restart.healthy);
    let rows = [
        ["", "without", "with backlog"].map(str::to_owned),
        row("healthy receipt p50 ms", ms(without.receipt_p50_us), ms(with.receipt_p50_us)),
        row("healthy receipt p99 ms", ms(without.receipt_p99_us), ms(with.receipt_p99_us)),
        row("healthy receipt max ms", ms(without.receipt_max_us), ms(with.receipt_max_us)),
        row("  p99 with by without", String::new(), figure(standing.p99_ratio)),
        row("  p99 ms after restart", String::new(), ms(after.receipt_p99_us)),
        row("rss idle MiB", mib(standing.rss_idle_bytes), mib(restart.rss_bytes)),
        row("rss after traffic MiB", mib(standing.rss_before_bytes), mib(standing.rss_with_backlog_bytes)),
        row("  growth bytes per pending", String::new(), figure(standing.rss_growth_bytes_per_pending)),
        row("  after restart MiB", String::new(), mib(restart.rss_after_traffic_bytes)),
        row("rss peak MiB", String::new(), mib(standing.rss_peak_bytes)),
        row("ready after ms", ms_of(restart.empty_ready_seconds), ms_of(restart.ready_seconds)),
        row("stopped after ms", String::new(), ms_of(restart.stop_seconds)),
        row("filled at events/s", String::new(), figure(standing.filled.accepted_per_s)),
        row("refusals while filling", String::new(), number(standing.filled.refused)),
        row("pending, as the gateway says", String::new(), reported),
    ];
    titled(title, &rows)
}

fn comparison(compared: &Comparison) -> Vec<String> {
    let shown = |value: Option<f64>| value.map(count_or_figure).unwrap_or_default();
    let [without, with] = compared.columns;
    let mut rows = vec![["", without, with].map(str::to_owned)];
    for line in &compared.figures {
        rows.push(row(line.name, shown(line.without), shown(line.with)));
    }
    rows.extend(compared.goals.iter().map(goal));
    let rounds = match compared.rounds {
        0 | 1 => String::new(),
        more => format!("; median of {more}, goals with least and most"),
    };
    titled(format!("{}{rounds}", compared.title), &rows)
}

fn goal(goal: &Goal) -> Row {
    let verdict = if goal.held { "held" } else { "MISSED" };
    let wanted = format!("{} {}", goal.bound.words(), count_or_figure(goal.limit));
    let spread = goal.spread.filter(|spread| spread.min < spread.max);
    let between =
        spread.map(|spread| format!(" ({}–{})", count_or_figure(spread.min), count_or_figure(spread.max)));
    let measured = format!("{}{}", count_or_figure(goal.measured), between.unwrap_or_default());
    row(&format!("goal: {}", goal.what), wanted, format!("{measured} {verdict}"))
}

/// Counts and measurements share the columns; a count is whole.
fn count_or_figure(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1000.0 { format!("{value:.0}") } else { figure(value) }
}

fn row(label: &str, left: String, right: String) -> Row {
    [label.to_owned(), left, right]
}

fn spread(spread: Spread) -> String {
    format!("{} ({}–{})", figure(spread.median), figure(spread.min), figure(spread.max))
}

fn titled(title: String, rows: &[Row]) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (label, left, right) = (width(0), width(1), width(2));
    let mut lines = vec![String::new(), title];
    lines.extend(rows.iter().map(|[a, b, c]| format!("  {a:<label$}  {b:>left$}  {c:>right$}")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::comparison::Figure;

    #[test]
    fn a_goal_shows_what_was_promised_what_was_measured_and_whether_it_was_held() {
        let goals = vec![Goal::at_most("p99", 1.84, 1.5), Goal::at_least("retries", 200.0, 200.0)];
        let figures = vec![Figure { name: "p99 ms", without: None, with: Some(7.094) }];
        let shown = Comparison::new("storm", "Storm".to_owned(), ["without", "with"], figures, goals);
        let words = |line: &String| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = comparison(&shown).iter().map(words).collect();
        let expected = [
            "",
            "Storm",
            "without with",
            "p99 ms 7.09",
            "goal: p99 at most 1.50 1.84 MISSED",
            "goal: retries at least 200 200 held",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn columns_line_up_by_characters_not_bytes() {
        let rows = [row("a", "1–2".to_owned(), "x".to_owned()), row("long", "1".to_owned(), "yy".to_owned())];
        assert_eq!(titled("T".to_owned(), &rows), ["", "T", "  a     1–2   x", "  long    1  yy"]);
    }
}
