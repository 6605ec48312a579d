//! Configuration as code: `plan`, `apply` and `export` bring a gateway and a file in line. They speak to it by its API
//! alone, as any client does.

mod apply;
mod args;
mod difference;
mod export;
mod file;
mod gateway;
mod kind;
mod node;
mod object;
#[cfg(test)]
mod outside_text;
mod plan;
mod print;
mod request;
mod secret;
#[cfg(test)]
mod tests;
mod toml_text;
mod toml_tree;
mod yaml;
mod yaml_text;

pub(crate) use self::args::{ApplyArgs, ExportArgs, PlanArgs};

use self::apply::Made;
use self::args::FileArgs;
use self::file::Format;
use self::node::Mistake;
use self::object::{Declared, Existing};
use self::plan::{Plan, Wishes, plan};
use crate::terminal::{Interruption, clean, confirm, counted, say, say_json};
use anyhow::{Context as _, anyhow, bail};
use std::io::Read as _;
use std::process::ExitCode;

/// There is something to change.
const CHANGES: u8 = 2;
/// Far above any file, and no way to fill the memory from a pipe.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Says what `apply` would do: 0 when nothing, 2 when something.
pub(crate) fn run_plan(args: &PlanArgs) -> anyhow::Result<ExitCode> {
    let declared = read(&args.file.file)?;
    let access = args.gateway.access()?;
    let client = access.client()?;
    let plan = planned(&declared, &gateway::read(&client)?, args.file.wishes(&access.key), &args.file)?;
    if args.file.json {
        say_json(&print::json(&plan))?;
    } else {
        say(&print::text(&plan))?;
    }
    Ok(if plan.steps.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CHANGES) })
}

/// Makes the changes.
pub(crate) fn run_apply(args: &ApplyArgs) -> anyhow::Result<ExitCode> {
    let declared = read(&args.file.file)?;
    let access = args.gateway.access()?;
    let client = access.client()?;
    let existing = gateway::read(&client)?;
    let plan = planned(&declared, &existing, args.file.wishes(&access.key), &args.file)?;
    if !args.file.json {
        say(&print::text(&plan))?;
    }
    if !plan.steps.is_empty() && !args.yes {
        confirm(&format!("Make {}", counted(plan.steps.len() as u64, "change")))?;
    }
    let interruption = Interruption::watch()?;
    let tell = |made: &Made| if args.file.json { Ok(()) } else { say(&print::made_text(made)) };
    let mut applied = apply::apply(&client, &plan, existing, &interruption, tell);
    if args.file.json {
        say_json(&print::applied_json(&plan, &applied))?;
    } else {
        say(&print::applied_text(&plan, &applied))?;
    }
    if let Some(error) = applied.stopped.take() {
        let step = print::label(&plan.steps[applied.done]);
        let (done, all) = (applied.done, plan.steps.len());
        return Err(error.context(format!(
            "stopped at {step} after {done} of {all} changes{}\nwhy",
            print::undone(&plan, &applied)
        )));
    }
    let wishes = Wishes { rotate_secrets: false, ..args.file.wishes(&access.key) };
    let left = planned(&declared, &gateway::read(&client)?, wishes, &args.file)?;
    if left.steps.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    bail!("all changes were made, and the gateway still differs from the file:\n{}", print::text(&left))
}

/// Writes the file that declares what the gateway has.
pub(crate) fn run_export(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let existing = gateway::read(&args.gateway.client()?)?;
    say(&export::export(&existing, args.format)?)?;
    Ok(ExitCode::SUCCESS)
}

fn read(path: &str) -> anyhow::Result<Vec<Declared>> {
    let mut text = String::new();
    let read = match path {
        "-" => std::io::stdin().take(FILE_BYTES_MAX).read_to_string(&mut text),
        path => {
            std::fs::File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text))
        }
    };
    read.with_context(|| format!("cannot read {}", shown(path)))?;
    file::read(&text, Format::of(path)).map_err(|mistakes| refused(path, &mistakes))
}

fn planned(
    declared: &[Declared],
    existing: &[Existing],
    wishes: Wishes<'_>,
    file: &FileArgs,
) -> anyhow::Result<Plan> {
    plan(declared, existing, wishes).map_err(|mistakes| refused(&file.file, &mistakes))
}

/// All mistakes at once, a line each, in the form that editors lead to.
fn refused(path: &str, mistakes: &[Mistake]) -> anyhow::Error {
    let path = clean(shown(path));
    let line = |mistake: &Mistake| format!("\n{path}:{}: {}", mistake.place, clean(&mistake.sentence));
    let lines = mistakes.iter().map(line);
    anyhow!("{} in {path}{}", counted(mistakes.len() as u64, "mistake"), lines.collect::<String>())
}

fn shown(path: &str) -> &str {
    if path == "-" { "stdin" } else { path }
}

impl FileArgs {
    fn wishes<'a>(&self, key: &'a str) -> Wishes<'a> {
        Wishes { prune: self.prune, rotate_secrets: self.rotate_secrets, key }
    }
}
