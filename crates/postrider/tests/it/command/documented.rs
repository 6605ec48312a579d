//! Every `postrider` command that a page shows is one that the binary takes.

use crate::rig::Ran;
use postrider_tidy::shell_block::{Kind, blocks};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// Runs a command line with `--help` behind it: flags and commands that there are not are refused all the same.
fn asked_for_help(words: &[String]) -> Ran {
    let ran = Command::new(env!("CARGO_BIN_EXE_postrider")).args(words).arg("--help").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { code: ran.status.code().unwrap_or(-1), out: text(ran.stdout), err: text(ran.stderr) }
}

/// What a page shows in code: lines of blocks, and pieces of lines.
fn commands(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if in_block || line.starts_with("    ") {
            found.push(line.trim().to_owned());
        } else {
            found.extend(line.split('`').skip(1).step_by(2).map(|code| code.trim().to_owned()));
        }
    }
    // A variable may stand before it.
    let after_variables = |code: &String| {
        let mut rest = code.as_str();
        while let Some((first, more)) = rest.split_once(' ').filter(|(first, _)| first.contains('=')) {
            assert!(!first.is_empty());
            rest = more.trim_start();
        }
        rest.strip_prefix("postrider ").map(str::to_owned)
    };
    found.iter().filter_map(after_variables).collect()
}

/// As a shell has them, up to a pipe, a redirection or a comment.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for character in line.chars() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            (None, '|' | '>' | '<' | '#' | ';' | '&') => break,
            (None, ' ') => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
            (_, other) => word.push(other),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

#[test]
fn every_command_of_the_pages_is_one_of_the_binary() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|file| file.unwrap().path());
    let pages =
        docs.chain([root.join("README.md")]).filter(|path| path.extension().is_some_and(|end| end == "md"));
    let mut seen = 0;
    for page in pages {
        for command in commands(&std::fs::read_to_string(&page).unwrap()) {
            let ran = asked_for_help(&words(&command));
            assert_eq!(ran.code, 0, "{} shows `postrider {command}`: {}", page.display(), ran.err);
            seen += 1;
        }
    }
    assert!(seen > 25, "only {seen} were found");
}

/// What is wrong with a line of a block that is for who works on the repository: such blocks are not run, since they build
/// and test everything, but what they name must be there.
fn wrong_of_repository(line: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let words = words(line);
    let after = |flag: &str| words.iter().skip_while(|word| *word != flag).nth(1);
    let is_there = match words.first()?.as_str() {
        "cargo" => match (words.get(1).map(String::as_str), after("-p")) {
            (Some("run" | "bench" | "test" | "build"), None) => true,
            (Some("run" | "bench" | "test" | "build"), Some(package)) => packages().contains(package),
            _ => false,
        },
        script => std::fs::metadata(root.join(script))
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0),
    };
    let arguments: Vec<String> = words.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    let is_ours = words.get(1).is_some_and(|command| command == "run");
    let is_taken = !is_ours || asked_for_help(&arguments).code == 0;
    (!is_there || !is_taken).then(|| line.to_owned())
}

/// Those of the workspace. `cargo run` without a package runs the only program of the default one, which is the gateway.
fn packages() -> Vec<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let told = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    let all = told["packages"].as_array().unwrap();
    let default: Vec<&Value> = told["workspace_default_members"].as_array().unwrap().iter().collect();
    let gateway = all.iter().find(|package| package["name"] == "postrider").unwrap();
    assert_eq!(default, [&gateway["id"]]);
    let is_program = |target: &&Value| target["kind"][0] == "bin";
    assert_eq!(gateway["targets"].as_array().unwrap().iter().filter(is_program).count(), 1);
    all.iter().map(|package| package["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_the_pages_tell_who_works_on_the_repository_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|file| file.unwrap().path());
    let pages =
        docs.chain([root.join("README.md")]).filter(|path| path.extension().is_some_and(|end| end == "md"));
    let mut seen = 0;
    for page in pages {
        let source = std::fs::read_to_string(&page).unwrap();
        for block in blocks(&source).iter().filter(|block| block.kind == Kind::OfRepository) {
            let wrong: Vec<String> = block.text.lines().filter_map(wrong_of_repository).collect();
            assert!(wrong.is_empty(), "{}:{}: {wrong:?}", page.display(), block.line);
            seen += block.text.lines().count();
        }
    }
    assert!(seen >= 4, "only {seen} lines were found");
    for wrong in [
        "cargo run -- srve",
        "cargo tset",
        "cargo bench -p postrider-cor",
        "scripts/tst",
        "cargo run -- serve --slot 1",
    ] {
        assert_eq!(wrong_of_repository(wrong).as_deref(), Some(wrong));
    }
}

#[test]
fn a_command_that_there_is_not_is_found() {
    for wrong in [
        "`postrider evnts`",
        "    postrider events --sinse 1h   # late",
        "```\nX=1 postrider dlq lst | head\n```",
    ] {
        let [command] = commands(wrong).try_into().unwrap();
        assert_eq!(asked_for_help(&words(&command)).code, 1, "{wrong}");
    }
    assert_eq!(words("send --data '{\"a\": 1}' x # why"), ["send", "--data", "{\"a\": 1}", "x"]);
}

/// The commands below this one, by what its help says.
fn below(help: &str) -> Vec<String> {
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Looks at a command and all below it; gives how many they are.
fn check_examples(path: &[String]) -> usize {
    let ran = asked_for_help(path);
    let help = ran.out(0);
    let name = path.join(" ");
    let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  postrider ")).collect();
    assert!(!examples.is_empty() || path.is_empty(), "`postrider {name} --help` has no example: {help}");
    assert!(
        path.is_empty() || examples.iter().any(|example| example.starts_with(&name)),
        "none of the examples of `postrider {name}` is of it: {examples:?}"
    );
    for example in examples {
        let tried = asked_for_help(&words(example));
        assert_eq!(tried.code, 0, "`postrider {name} --help` shows `postrider {example}`: {}", tried.err);
    }
    let deeper = below(help).into_iter().map(|next| check_examples(&[path, &[next]].concat()));
    1 + deeper.sum::<usize>()
}

#[test]
fn every_command_has_an_example_that_the_binary_takes() {
    let seen = check_examples(&[]);
    assert!(seen > 60, "only {seen} were found");
}

#[test]
fn completions_and_man_pages_know_the_commands() {
    let run = |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_postrider")).args(args).output().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script = String::from_utf8(run(&["completions", shell]).stdout).unwrap();
        assert!(script.contains("inspect") && script.contains("egress-allow"), "{shell}");
    }
    let place = tempfile::tempdir().unwrap();
    assert!(run(&["man", place.path().to_str().unwrap()]).status.success());
    let page = std::fs::read_to_string(place.path().join("postrider-dlq-replay.1")).unwrap();
    assert!(page.contains(".TH postrider-dlq-replay 1") && page.contains("dry"), "{page}");
    assert!(String::from_utf8(run(&["man"]).stdout).unwrap().contains(".TH postrider 1"));
}
