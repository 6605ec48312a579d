//! `docs/settings.md` has a row for each setting, made from what `postrider serve --help` says of it.

use super::layers::KEYS;
use crate::cli::ServeArgs;
use clap::{Arg, Args, Command};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const PAGE: &str = include_str!("../../../../docs/settings.md");

fn row(flag: &Arg) -> String {
    let (name, help) = (flag.get_long().unwrap(), flag.get_help().unwrap().to_string());
    let (meaning, default) =
        help.trim_end_matches(']').split_once(" [default: ").expect("help names a default");
    let variable = name.to_uppercase().replace('-', "_");
    format!("| `--{name}`<br>`POSTRIDER_{variable}` | {default} | {meaning} |\n")
}

#[test]
fn the_page_of_settings_says_what_the_help_says() {
    let command = ServeArgs::augment_args(Command::new("serve"));
    let mut tables: BTreeMap<&str, String> = BTreeMap::new();
    for flag in command.get_arguments() {
        let heading = flag.get_help_heading().expect("each flag is under a heading");
        let table = tables
            .entry(heading)
            .or_insert_with(|| "| setting | default | meaning |\n|---|---|---|\n".into());
        write!(table, "{}", row(flag)).unwrap();
    }
    for (heading, table) in tables {
        let section = PAGE.split("\n## ").find(|section| section.starts_with(heading)).unwrap_or_default();
        assert!(section.contains(&table), "docs/settings.md lacks this table under {heading}:\n{table}");
    }
}

#[test]
fn the_page_of_settings_has_those_without_a_flag_too() {
    for key in KEYS {
        let variable = format!("`POSTRIDER_{}`", key.to_uppercase());
        assert!(
            PAGE.contains(&variable) || PAGE.contains(&format!("[[{key}]]")),
            "docs/settings.md lacks {key}"
        );
    }
}
