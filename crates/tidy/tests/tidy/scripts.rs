//! Shell scripts stop at the first thing that fails.

use super::tree::Source;
use super::{Finding, check_planted, check_repository, finding};

const SHEBANG: &str = "#!/usr/bin/env bash";
const STRICT: &str = "set -euo pipefail";

fn check(files: &[Source]) -> Vec<Finding> {
    files.iter().filter(|source| is_shell_script(source)).filter_map(check_script).collect()
}

fn is_shell_script(source: &Source) -> bool {
    let interpreter = source.text.lines().next().and_then(|line| line.strip_prefix("#!")).unwrap_or_default();
    let is_shell = |word: &str| ["sh", "bash", "dash", "zsh"].iter().any(|shell| word.ends_with(shell));
    source.has_extension("sh") || interpreter.split_whitespace().any(is_shell)
}

fn check_script(source: &Source) -> Option<Finding> {
    if source.text.lines().next() != Some(SHEBANG) {
        return Some(finding(source, 1, &format!("begin with `{SHEBANG}`")));
    }
    let is_command = |text: &str| !text.trim().is_empty() && !text.starts_with('#');
    match source.lines().find(|(_, text)| is_command(text)) {
        Some((_, STRICT)) => None,
        Some((line, _)) => Some(finding(source, line, &format!("the first command is `{STRICT}`"))),
        None => Some(finding(source, 1, "does nothing")),
    }
}

#[test]
fn shell_scripts_stop_at_the_first_failure() {
    check_repository(check);
}

#[test]
fn a_script_that_goes_on_after_a_failure_is_found() {
    check_planted(check, "scripts/a", &format!("{SHEBANG}\n# What for.\n\n{STRICT}\ntrue\n"), &[]);
    check_planted(check, "scripts/a", &format!("{SHEBANG}\n# What for.\ncd b\n{STRICT}\n"), &[3]);
    check_planted(check, "scripts/a", &format!("{SHEBANG}\nset -e\n"), &[2]);
    check_planted(check, "scripts/a", &format!("#!/bin/sh\n{STRICT}\n"), &[1]);
    check_planted(check, "scripts/a.sh", "true\n", &[1]);
    check_planted(check, "scripts/a", &format!("{SHEBANG}\n"), &[1]);
    check_planted(check, "scripts/a.py", "#!/usr/bin/env python3\n", &[]);
}
