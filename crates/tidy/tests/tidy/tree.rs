//! The files of the repository: what lies in its directory, less what `.gitignore` names.
//!
//! Reading the directory instead of asking git finds a new file before it is added, and works from an archive.

use std::path::Path;
use std::sync::OnceLock;
use std::{fs, io};

/// A file of the repository.
pub(super) struct Source {
    /// From the root of the repository, with `/` between the parts.
    pub(super) path: String,
    /// Empty for a file that is not text.
    pub(super) text: String,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    pub(super) fn is_rust(&self) -> bool {
        self.has_extension("rs")
    }

    pub(super) fn is_markdown(&self) -> bool {
        self.has_extension("md")
    }

    pub(super) fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }

    /// The lines with their numbers, counted from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }
}

/// All files, sorted by path, read once for all checks.
pub(super) fn repository() -> &'static [Source] {
    static FILES: OnceLock<Vec<Source>> = OnceLock::new();
    FILES.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let ignore = Ignore::parse(&fs::read_to_string(root.join(".gitignore")).unwrap_or_default());
        let mut files = Vec::new();
        walk(&root, "", &ignore, &mut files).expect("the repository is readable");
        files.sort_by(|one, other| one.path.cmp(&other.path));
        files
    })
}

/// What has gone since it was listed is passed over: other tests run at the same time.
fn walk(root: &Path, below: &str, ignore: &Ignore, files: &mut Vec<Source>) -> io::Result<()> {
    for entry in unless_gone(fs::read_dir(root.join(below)))?.into_iter().flatten() {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() && !ignore.directory(&name, &entry.path()) {
            walk(root, &path, ignore, files)?;
        } else if kind.is_file() && !ignore.file(&name) {
            let text = |bytes| String::from_utf8(bytes).unwrap_or_default();
            let bytes = unless_gone(fs::read(entry.path()))?;
            files.extend(bytes.map(|bytes| Source { path, text: text(bytes) }));
        }
    }
    Ok(())
}

fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// The forms of `.gitignore` that this repository uses: `directory/`, `*.suffix` and a plain name.
struct Ignore {
    directories: Vec<String>,
    suffixes: Vec<String>,
    names: Vec<String>,
}

impl Ignore {
    fn parse(text: &str) -> Self {
        let mut ignore =
            Ignore { directories: vec![".git".into()], suffixes: vec![], names: vec![".git".into()] };
        for line in text.lines().map(|line| line.trim().trim_start_matches('/')) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            } else if let Some(directory) = line.strip_suffix('/') {
                ignore.directories.push(directory.to_owned());
            } else if let Some(suffix) = line.strip_prefix('*') {
                ignore.suffixes.push(suffix.to_owned());
            } else {
                ignore.names.push(line.to_owned());
            }
        }
        ignore
    }

    /// Cargo marks a target directory of any name with `CACHEDIR.TAG`.
    fn directory(&self, name: &str, path: &Path) -> bool {
        self.directories.iter().any(|ignored| ignored == name) || path.join("CACHEDIR.TAG").exists()
    }

    fn file(&self, name: &str) -> bool {
        self.names.iter().any(|ignored| ignored == name)
            || self.suffixes.iter().any(|suffix| name.ends_with(suffix.as_str()))
    }
}

#[test]
fn the_walk_finds_the_sources_and_leaves_out_what_is_built() {
    let paths: Vec<&str> = repository().iter().map(|source| source.path.as_str()).collect();
    for wanted in ["Cargo.toml", "crates/core/src/lib.rs", "crates/tidy/tests/tidy/tree.rs", "scripts/test"] {
        assert!(paths.contains(&wanted), "{wanted} is not among {} files", paths.len());
    }
    for built in ["target/", ".git/"] {
        assert!(!paths.iter().any(|path| path.starts_with(built)), "{built} was walked");
    }
}

#[test]
fn what_git_ignores_is_ignored() {
    let ignore = Ignore::parse("# built\ntarget/\n*.snap.new\n/local.toml\n");
    let nowhere = Path::new("no such directory");
    assert!(ignore.directory("target", nowhere) && ignore.directory(".git", nowhere));
    assert!(!ignore.directory("src", nowhere));
    assert!(ignore.file("page.snap.new") && ignore.file("local.toml"));
    assert!(!ignore.file("page.snap"));
}
