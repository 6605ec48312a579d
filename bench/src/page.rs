//! The figures in a page of documentation: each part of a report goes between the marks that bear its name, so that
//! what the page says is what was measured.

use crate::report::Report;
use crate::table;
use anyhow::Context as _;
use std::path::Path;

const END: &str = "<!-- end -->";

/// Puts the parts of a report into the page, or says which has no place there and changes nothing.
pub(crate) fn write(report: &Report, path: &Path) -> anyhow::Result<()> {
    let page = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let page = filled(&page, report).with_context(|| path.display().to_string())?;
    std::fs::write(path, page).with_context(|| format!("write {}", path.display()))
}

fn filled(page: &str, report: &Report) -> anyhow::Result<String> {
    let [machine, _] = table::machine(&report.machine);
    let command = command(&report.machine.command_line);
    table::parts(report).into_iter().try_fold(page.to_owned(), |page, (name, lines)| {
        let lines = lines.join("\n");
        put(&page, name, &format!("```text\n$ {command}\n{machine}\n{lines}\n```\n"))
    })
}

fn mark(name: &str) -> String {
    format!("<!-- bench {name} -->\n")
}

fn put(page: &str, name: &str, figures: &str) -> anyhow::Result<String> {
    let place =
        || format!("there is no place for {name:?}: a line {:?} and {END:?} after it", mark(name).trim_end());
    let (before, rest) = page.split_once(&mark(name)).with_context(place)?;
    let (_, after) = rest.split_once(END).with_context(place)?;
    Ok(format!("{before}{}{figures}{END}{after}", mark(name)))
}

/// As somebody else would give it: without where this program is, and where its figures went.
fn command(line: &[String]) -> String {
    let mut words = vec!["postrider"];
    let mut rest = line.iter().skip(1).map(String::as_str);
    while let Some(word) = rest.next() {
        match word {
            "--page" | "--json" | "--work-dir" => drop(rest.next()),
            _ if ["--page=", "--json=", "--work-dir="].iter().any(|flag| word.starts_with(flag)) => {}
            _ => words.push(word),
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::ScenarioName;
    use clap::ValueEnum as _;

    #[test]
    fn figures_replace_those_of_before_and_nothing_else() {
        let page = "a\n<!-- bench storm -->\nold\n<!-- end -->\nb\n<!-- bench flood -->\n<!-- end -->\n";
        let once = put(page, "storm", "new\n").expect("there is a place");
        assert_eq!(
            once,
            "a\n<!-- bench storm -->\nnew\n<!-- end -->\nb\n<!-- bench flood -->\n<!-- end -->\n"
        );
        assert_eq!(put(&once, "storm", "new\n").expect("it is still there"), once);
        let refused = put(page, "herd", "new\n").expect_err("there is no place").to_string();
        assert_eq!(
            refused,
            r#"there is no place for "herd": a line "<!-- bench herd -->" and "<!-- end -->" after it"#
        );
    }

    #[test]
    fn the_command_is_shown_as_somebody_else_would_give_it() {
        let line = ["/some/where/postrider", "bench", "--page", "p.md", "--json=x", "--rounds", "3"];
        assert_eq!(command(&line.map(str::to_owned)), "postrider bench --rounds 3");
    }

    #[test]
    fn the_page_on_performance_has_a_place_for_every_scenario() {
        let page = include_str!("../../docs/performance.md");
        let scenarios = ScenarioName::value_variants().iter().filter(|name| **name != ScenarioName::All);
        let names = scenarios.filter_map(|name| name.to_possible_value());
        for name in names.map(|name| name.get_name().to_owned()).chain(["database".to_owned()]) {
            put(page, &name, "").expect("a place");
        }
    }
}
