//! `postrider completions` and `man`: what shells and `man` know of the commands, made from the commands themselves.

use super::Run;
use crate::cli::Cli;
use crate::terminal::say;
use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct CompletionArgs {
    /// Shell
    shell: clap_complete::Shell,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// Write one page per command to this directory, instead of the main page to standard output
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl Run for CompletionArgs {
    fn run(&self) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "postrider", &mut script);
        say(&String::from_utf8(script).context("a script is text")?)
    }
}

impl Run for ManArgs {
    fn run(&self) -> anyhow::Result<()> {
        let Some(directory) = &self.directory else {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page).context("write the page")?;
            return say(&String::from_utf8(page).context("a page is text")?);
        };
        std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
        clap_mangen::generate_to(Cli::command(), directory)
            .with_context(|| format!("cannot write pages into {}", directory.display()))
    }
}
