//! Commands on a page stand where the test of the pages finds them, and the few that it cannot run say why.

use super::tree::Source;
use super::{Finding, check_planted, check_repository, finding};
use postrider_tidy::shell_block::{Block, Kind, blocks};

/// Blocks of all pages that are not run. May shrink and not grow.
const NOT_RUN_MAX: usize = 4;
/// A reason is a few words.
const WHY_WORDS_MIN: usize = 3;
/// What the lines of a shell block begin with.
const COMMANDS: [&str; 4] = ["postrider ", "curl ", "cargo ", "scripts/"];

fn check(files: &[Source]) -> Vec<Finding> {
    let is_page = |source: &&Source| {
        source.path == "README.md" || source.path.starts_with("docs/") && source.is_markdown()
    };
    let pages: Vec<&Source> = files.iter().filter(is_page).collect();
    let mut findings: Vec<Finding> = pages.iter().flat_map(|page| of_page(page)).collect();
    let not_run = pages.iter().flat_map(|page| blocks(&page.text)).filter(is_not_run).count();
    if not_run > NOT_RUN_MAX {
        findings.push(format!("docs: {not_run} shell blocks are not run; {NOT_RUN_MAX} are the most"));
    }
    findings
}

fn is_not_run(block: &Block) -> bool {
    matches!(block.kind, Kind::NotRun { .. })
}

fn of_page(page: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for block in blocks(&page.text) {
        let wrong = match &block.kind {
            Kind::NotRun { why } if why.split_whitespace().count() < WHY_WORDS_MIN => {
                "say in a few words why this block cannot be run"
            }
            Kind::Other { info } if info.starts_with("sh ") || begins_with_command(&block.text) => {
                "commands stand in a block of sh, runs-on or not-run: why"
            }
            _ => continue,
        };
        findings.push(finding(page, block.line, wrong));
    }
    let indented =
        page.lines().filter(|(_, line)| line.strip_prefix("    ").is_some_and(begins_with_command));
    findings.extend(indented.map(|(line, _)| finding(page, line, "commands stand between fences, as sh")));
    findings
}

fn begins_with_command(text: &str) -> bool {
    COMMANDS.iter().any(|command| text.starts_with(command))
}

#[test]
fn commands_of_the_pages_are_run_or_say_why_not() {
    check_repository(check);
}

#[test]
fn a_command_that_nobody_runs_is_found() {
    let check = |text, lines: &[usize]| check_planted(check, "docs/page.md", text, lines);
    check("```sh\npostrider events\n```\n\n    {\"json\": 1}\n", &[]);
    check("```sh not-run: needs a cloud\ndocker run x\n```\n", &[]);
    check("```sh not-run: because\ndocker run x\n```\n", &[2]);
    check("```sh later\nx\n```\n```\npostrider events\n```\n\n    curl x\n", &[2, 5, 8]);
}
