//! `postrider`: a webhook gateway in one binary.

mod api;
mod cli;
mod config;
mod serve;

use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

/// The gateway makes and drops many small strings on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let done = match cli.command {
        None => serve::run(&cli.serve),
        Some(cli::Command::Serve(args)) => serve::run(&args),
        Some(cli::Command::Bench(args)) => postrider_bench::run(*args),
        Some(cli::Command::Openapi) => {
            std::io::stdout().write_all(&api::document::text()).map_err(Into::into)
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // One sentence for a person, never a stack trace.
            eprintln!("postrider: {error:#}");
            ExitCode::FAILURE
        }
    }
}
