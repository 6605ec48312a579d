//! The repository speaks of Postrider and to its readers, not of the places and the circumstances it was made in.

use super::leftovers::has_word;
use super::tree::Source;
use super::{Finding, check_planted, check_repository, finding};

/// How a phrase is looked for.
#[derive(Clone, Copy, Debug)]
enum Look {
    /// On its own, in these letters.
    Word,
    /// At any place, in letters of any case.
    Phrase,
    /// As the beginning of an absolute path.
    Path,
    /// The same, in pages only: code and scripts have reasons to name such a place.
    PathInPages,
}

/// Put together from parts, so that this file does not find itself.
const BANNED: &[(Look, &str)] = &[
    (Look::Path, concat!("/wo", "rk/")),
    (Look::Path, concat!("/ro", "ot/")),
    (Look::PathInPages, concat!("/tm", "p/")),
    (Look::PathInPages, concat!("/ho", "me/")),
    (Look::Phrase, concat!("shared/", "design")),
    (Look::Phrase, concat!("shared/", "style")),
    (Look::Phrase, concat!("issue", " #")),
    (Look::Phrase, concat!("issue", " no.")),
    (Look::Phrase, concat!("this ", "session")),
    (Look::Phrase, concat!("system ", "prompt")),
    (Look::Phrase, concat!("language ", "model")),
    (Look::Phrase, concat!("anth", "ropic")),
    (Look::Phrase, concat!("open", "ai")),
    (Look::Phrase, concat!("chat", "gpt")),
    (Look::Word, concat!("A", "I")),
    (Look::Word, concat!("LL", "M")),
    (Look::Word, concat!("Cla", "ude")),
    (Look::Word, concat!("Cop", "ilot")),
];

fn check(files: &[Source]) -> Vec<Finding> {
    // Cargo writes the lock file, and checksums in it may spell anything.
    files.iter().filter(|source| source.path != "Cargo.lock").flat_map(check_file).collect()
}

fn check_file(source: &Source) -> Vec<Finding> {
    let said = |(line, text): (usize, &str)| {
        let (_, phrase) = BANNED.iter().find(|(look, phrase)| is_in(source, text, *look, phrase))?;
        Some(finding(source, line, &format!("`{phrase}` does not belong in the repository")))
    };
    source.lines().filter_map(said).collect()
}

fn is_in(source: &Source, text: &str, look: Look, phrase: &str) -> bool {
    match look {
        Look::Word => has_word(text, phrase),
        Look::Phrase => text.to_lowercase().contains(phrase),
        Look::Path => has_path(text, phrase),
        Look::PathInPages => source.is_markdown() && has_path(text, phrase),
    }
}

/// Whether an absolute path begins like that; `src/work/a.rs` and `https://host/work/` do not.
fn has_path(text: &str, beginning: &str) -> bool {
    let before_path = |character: char| character.is_whitespace() || "\"'`(<[={,:;|".contains(character);
    let mut places = text.match_indices(beginning);
    places.any(|(at, _)| at == 0 || text[..at].ends_with(before_path))
}

#[test]
fn the_repository_speaks_to_its_readers() {
    check_repository(check);
}

#[test]
fn every_word_that_does_not_belong_is_found() {
    for (look, phrase) in BANNED {
        check_planted(check, "docs/a.md", &format!("One.\nSee `{phrase}`.\n"), &[2]);
        let in_code = if matches!(look, Look::PathInPages) { vec![] } else { vec![1] };
        check_planted(check, "src/a.rs", &format!("//! See {phrase}\n"), &in_code);
        let as_part = if matches!(look, Look::Phrase) { vec![1] } else { vec![] };
        check_planted(check, "docs/a.md", &format!("x{phrase}x\n"), &as_part);
    }
    let shouted = concat!("ISS", "UE #");
    check_planted(check, "docs/a.md", &format!("{shouted}7\n"), &[1]);
}
