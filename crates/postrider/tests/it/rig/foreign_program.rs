//! Programs in other languages, run as their users run them. A machine that lacks a language fails the test: `scripts/test`
//! installs all of them.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

/// The program of a file below `tests/it`, by the language that its name ends with.
pub(crate) fn foreign_program(file: &str) -> Command {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(file);
    let words: &[&str] = match path.extension().and_then(OsStr::to_str) {
        Some("py") => &["python3"],
        Some("mjs") => &["node"],
        Some("go") => &["go", "run"],
        Some("java") => &["java"],
        _ => panic!("{file} is in no language that is known here"),
    };
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(path);
    command
}

/// Runs it to its end.
pub(crate) fn run(command: &mut Command) -> Output {
    let language = command.get_program().to_owned();
    let ran = command.output();
    ran.unwrap_or_else(|error| panic!("this test needs {language:?}, which scripts/test installs: {error}"))
}
