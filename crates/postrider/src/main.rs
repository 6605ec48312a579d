//! `postrider`: a webhook gateway in one binary.

mod api;
mod cli;
mod config;
mod configuration;
mod dashboard;
mod serve;

use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

/// The gateway makes and drops many small strings on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(said) => {
            let _ = said.print();
            // The usual 2 would say that a plan has found changes.
            return if said.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    let done = match cli.command {
        None => serve::run(&cli.serve).map(success),
        Some(cli::Command::Serve(args)) => serve::run(&args).map(success),
        Some(cli::Command::Bench(args)) => postrider_bench::run(*args).map(success),
        Some(cli::Command::Openapi) => {
            std::io::stdout().write_all(&api::document::text()).map(success).map_err(Into::into)
        }
        Some(cli::Command::Plan(args)) => configuration::run_plan(&args),
        Some(cli::Command::Apply(args)) => configuration::run_apply(&args),
        Some(cli::Command::Export(args)) => configuration::run_export(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            // One sentence for a person, never a stack trace.
            eprintln!("postrider: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn success((): ()) -> ExitCode {
    ExitCode::SUCCESS
}
