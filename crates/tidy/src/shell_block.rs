//! The blocks of code of a page, and what their first line says about them:
//!
//! - ` ```sh `: run by the test of the pages, in the order of the page, and expected to succeed;
//! - ` ```sh runs-on `: does not end by itself, so it is left running, and must still run at the end of the page;
//! - ` ```sh stopped `: run after all others, when the gateway of the page has stopped;
//! - ` ```sh not-run: why `: cannot be run by a test;
//! - ` ```sh ` with nothing but `cargo` and `scripts/` in it: for who works on the repository, and not of the gateway;
//! - ` ```yaml gateway.yaml `: a file that the commands of the page use.

/// A block between fences.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// The line of its first line of code, counted from 1.
    pub line: usize,
    /// What a test does with it.
    pub kind: Kind,
    /// The code between the fences.
    pub text: String,
}

/// What a test does with a block.
#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    /// Run in the order of the page.
    Run,
    /// Left running until the end of the page.
    RunsOn,
    /// Run once the gateway of the page has stopped.
    Stopped,
    /// Commands for contributors, which no page test runs.
    OfRepository,
    /// Left out.
    NotRun {
        /// The reason that the page gives.
        why: String,
    },
    /// A file that the commands of the page use.
    File {
        /// The name that the commands use.
        name: String,
    },
    /// An example, output, or a shell block with an unknown mark.
    Other {
        /// The text after the opening fence.
        info: String,
    },
}

impl Block {
    /// What a block is can depend on what is in it.
    fn judged(self) -> Self {
        let is_ours = |line: &str| line.starts_with("cargo ") || line.starts_with("scripts/");
        let kind = match self.kind {
            Kind::Run if self.text.lines().all(is_ours) => Kind::OfRepository,
            other => other,
        };
        Block { kind, ..self }
    }
}

impl Kind {
    fn of(info: &str) -> Self {
        let (language, mark) = info.split_once(' ').unwrap_or((info, ""));
        match (language, mark.trim()) {
            ("sh", "") => Kind::Run,
            ("sh", "runs-on") => Kind::RunsOn,
            ("sh", "stopped") => Kind::Stopped,
            ("sh", mark) if mark.starts_with("not-run:") => {
                Kind::NotRun { why: mark.trim_start_matches("not-run:").trim().to_owned() }
            }
            (language, name) if language != "sh" && name.contains('.') => {
                Kind::File { name: name.to_owned() }
            }
            _ => Kind::Other { info: info.to_owned() },
        }
    }
}

/// The fenced blocks of a page, in order.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (line, text) in (1..).zip(page.lines()) {
        match (text.strip_prefix("```"), open.take()) {
            (Some(info), None) => {
                open = Some(Block { line: line + 1, kind: Kind::of(info.trim()), text: String::new() });
            }
            (Some(_), Some(block)) => blocks.push(block.judged()),
            (None, Some(mut block)) => {
                block.text.push_str(text);
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    blocks
}

#[test]
fn blocks_are_told_apart_by_their_first_line() {
    let page = "x\n```sh\na\nb\n```\n```sh runs-on\nc\n```\n```sh not-run: needs a cloud\nd\n```\n```toml a.toml\ne\n```\n```json event\nf\n```\n```sh runon\ng\n```\n```sh stopped\nj\n```\n```sh\ncargo h\nscripts/i\n```\n";
    let block = |line, kind, text: &str| Block { line, kind, text: text.to_owned() };
    let other = |info: &str| Kind::Other { info: info.to_owned() };
    let expected = [
        block(3, Kind::Run, "a\nb\n"),
        block(7, Kind::RunsOn, "c\n"),
        block(10, Kind::NotRun { why: "needs a cloud".to_owned() }, "d\n"),
        block(13, Kind::File { name: "a.toml".to_owned() }, "e\n"),
        block(16, other("json event"), "f\n"),
        block(19, other("sh runon"), "g\n"),
        block(22, Kind::Stopped, "j\n"),
        block(25, Kind::OfRepository, "cargo h\nscripts/i\n"),
    ];
    assert_eq!(blocks(page), expected);
}
