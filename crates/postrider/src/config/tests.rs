//! Settings from all layers, and what is said of bad ones.

use super::*;
use proptest::prelude::*;
use std::io::Write;

fn environment(pairs: &[(&str, &str)]) -> HashMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("postrider-config-{}-{name}.toml", std::process::id()));
        std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
        TempFile(path)
    }

    fn args(&self) -> ServeArgs {
        ServeArgs { config: Some(self.0.display().to_string()), ..ServeArgs::default() }
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn without_anything_the_defaults_stand() {
    let config = Config::read(&ServeArgs::default(), &HashMap::new()).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.data_dir, PathBuf::from("postrider-data"));
    assert!(config.egress_allow.is_empty() && config.destinations.is_empty());
}

#[test]
fn bytes_in_flight_are_a_part_of_a_small_memory() {
    const MIB: u64 = 1 << 20;
    for (memory, expected) in
        [(u64::MAX, [64, 48, 24]), (256 * MIB, [64, 48, 24]), (128 * MIB, [32, 24, 12]), (1, [1, 1, 1])]
    {
        let ByteLimits { node, account, destination } = default_bytes(memory);
        assert_eq!([node, account, destination], expected.map(|mebibytes| mebibytes * MIB), "{memory}");
    }
}

#[test]
fn ranges_may_stand_in_one_text_with_commas_wherever_they_come_from() {
    let allowed = |args: &ServeArgs, variables: &[(&str, &str)]| {
        let config = Config::read(args, &environment(variables)).unwrap();
        config.egress_allow.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let both = ["10.0.0.0/8", "fd00::/8"];
    let flag = |values: &[&str]| ServeArgs {
        egress_allow: values.iter().map(|value| (*value).to_owned()).collect(),
        ..ServeArgs::default()
    };
    assert_eq!(allowed(&flag(&["10.0.0.0/8, fd00::/8"]), &[]), both);
    assert_eq!(allowed(&flag(&["10.0.0.0/8", "fd00::/8"]), &[]), both);
    assert_eq!(allowed(&flag(&[]), &[("POSTRIDER_EGRESS_ALLOW", "10.0.0.0/8,fd00::/8")]), both);
    for (name, text) in [("text", "'10.0.0.0/8,fd00::/8'"), ("array", "['10.0.0.0/8', 'fd00::/8']")] {
        let file = TempFile::new(name, &format!("egress_allow = {text}\n"));
        assert_eq!(allowed(&file.args(), &[]), both);
    }
    let mistaken = Config::read(&flag(&["10.0.0.0/8,"]), &HashMap::new()).unwrap_err().to_string();
    assert!(mistaken.contains("--egress-allow: must be a range") && mistaken.contains("\"\""), "{mistaken}");
}

#[test]
fn flags_stand_over_the_environment_over_the_file() {
    let file = TempFile::new("layers", "listen = '127.0.0.1:1'\nslots = 11\nworkers = 3\n");
    let env = environment(&[("POSTRIDER_LISTEN", "127.0.0.1:2"), ("POSTRIDER_SLOTS", "22")]);
    let args = ServeArgs { listen: Some("127.0.0.1:3".into()), ..file.args() };
    let config = Config::read(&args, &env).unwrap();
    assert_eq!((config.listen.port(), config.slots, config.workers), (3, 22, 3));
}

#[test]
fn all_mistakes_are_reported_at_once_with_the_key_and_what_is_allowed() {
    let file = TempFile::new(
        "mistakes",
        "lisen = 'x'\nretention_days = 0\n[[destinations]]\nname = 'a'\nurl = 'ftp://x'\nmax_concurrency = 0\n[[destinations]]\ncolour = 1\n[[destinations]]\nname = 'b'\nurl = 'http://b'\n[[destinations]]\nname = 'b'\nurl = 'http://c'\n",
    );
    let env = environment(&[
        ("POSTRIDER_SLOTS", "many"),
        ("POSTRIDER_LITSEN", "x"),
        ("POSTRIDER_DEAD_LETTER_FILE", ""),
        ("POSTRIDER_DEAD_LETTER_FILE_MAX_MB", "0"),
        ("POSTRIDER_ADMIN_KEY", "short"),
    ]);
    let args = ServeArgs { egress_allow: vec!["10.0.0.0/8".into(), "nonsense".into()], ..file.args() };
    let text = Config::read(&args, &env).unwrap_err().to_string();
    for expected in [
        "lisen in ",
        "no such setting",
        "retention_days in ",
        "must be a whole number from 1 to 3650",
        "POSTRIDER_SLOTS: must be a whole number from 1 to 16384, not \"many\"",
        "POSTRIDER_LITSEN: no such setting",
        "POSTRIDER_DEAD_LETTER_FILE: must be the path of a file, not \"\"",
        "POSTRIDER_DEAD_LETTER_FILE_MAX_MB: must be a whole number from 1 to 1000000, not \"0\"",
        "POSTRIDER_ADMIN_KEY: must be 20 to 256 visible ASCII characters, at least 8 of them different",
        "--egress-allow: must be a range such as 10.0.0.0/8 or fd00::/8, not \"nonsense\"",
        "destinations[0].url: must begin with https:// or http://",
        "destinations[0].max_concurrency: must be a whole number from 1 to 1000",
        "destinations[1].colour: no such field",
        "destinations[1].name: is missing",
        "destinations[1].url: is missing",
        "destinations[3].name: \"b\" is listed twice",
    ] {
        assert!(text.contains(expected), "{expected:?} is not said in:\n{text}");
    }
    assert!(!text.contains("short"), "a key is never repeated");
}

#[test]
fn a_file_that_is_not_toml_is_named() {
    let file = TempFile::new("broken", "listen = ");
    assert!(Config::read(&file.args(), &HashMap::new()).unwrap_err().to_string().contains("cannot be read"));
}

#[test]
fn sizes_have_units() {
    for (text, bytes) in [
        ("1048576", Some(1 << 20)),
        ("64MiB", Some(64 << 20)),
        ("20GB", Some(20_000_000_000)),
        ("5 mb", Some(5_000_000)),
        ("x", None),
        ("", None),
        ("99999999999GB", None),
        ("-1", None),
    ] {
        assert_eq!(size(text, 0).ok(), bytes, "{text}");
    }
}

#[test]
fn a_line_that_is_no_toml_is_named_and_not_repeated() {
    for line in ["admin_key = planted-in-a-line", "admin_key = \"planted-in-a-line", "'planted-in-a-line"] {
        let file = TempFile::new("no-toml", &format!("slots = 1\n{line}\n"));
        let said = Config::read(&file.args(), &HashMap::new()).unwrap_err().to_string();
        assert!(said.contains("cannot be read: line 2, column"), "{said}");
        assert!(!said.contains("planted"), "{said}");
    }
}

/// A line of a settings file: a known key with a value that may be right, or anything.
fn line() -> impl Strategy<Value = String> {
    let key = prop::sample::select(
        &["listen", "slots", "retention_days", "disk_reserve", "admin_key", "egress_allow", "log", "x"][..],
    );
    let value = prop_oneof![
        "[0-9]{1,20}",
        "'[ -&(-~]{0,20}'",
        Just("['10.0.0.0/8', 'x']".to_owned()),
        Just("5 GB".to_owned()),
        any::<String>()
    ];
    prop_oneof![
        4 => (key, value).prop_map(|(key, value)| format!("{key} = {value}")),
        1 => any::<String>(),
        1 => Just("[[destinations]]\nname = 'a'\nurl = 'https://a.test'".to_owned()),
    ]
}

proptest! {
    #[test]
    fn any_file_and_environment_are_settings_or_refused(
        lines in prop::collection::vec(line(), 0..6),
        name in prop::sample::select(&["POSTRIDER_LISTEN", "POSTRIDER_SLOTS", "POSTRIDER_SECRET_KEY", "POSTRIDER_X"][..]),
        value in any::<String>(),
    ) {
        let file = TempFile::new("any", &lines.join("\n"));
        let read = Config::read(&file.args(), &environment(&[(name, &value)]));
        prop_assert!(read.is_ok() || !read.err().map(|mistakes| mistakes.to_string()).unwrap_or_default().is_empty());
    }
}
