//! `postrider`: a webhook gateway in one binary.

mod api;
mod bench_lives;
mod chaos;
mod cli;
mod client;
mod command;
mod config;
mod configuration;
mod dashboard;
mod demo;
mod doctor;
mod json_text;
mod memory_budget;
mod migrate_store;
mod own_memory;
mod serve;
mod terminal;

use clap::{CommandFactory as _, Parser};
use cli::{Cli, Command};
use command::Run as _;
use std::process::ExitCode;

/// The gateway makes and drops many small strings on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A gateway that cannot be reached now may be later, so scripts can tell it from a refusal.
const UNREACHABLE: u8 = 3;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(said) => {
            let _ = said.print();
            // The usual 2 would say that a plan has found changes.
            return if said.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    match run(cli) {
        Ok(code) => {
            serve::log::finish();
            code
        }
        Err(error) if error.is::<terminal::ReaderGone>() => ExitCode::SUCCESS,
        Err(error) => {
            // One sentence for a person, never a stack trace. It may tell what others have said.
            serve::log::finish_with(format!("postrider: {}\n", terminal::clean_lines(&format!("{error:#}"))));
            if error.downcast_ref::<client::Unreachable>().is_some() {
                ExitCode::from(UNREACHABLE)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let Some(command) = cli.command else {
        return terminal::say(&Cli::command().render_help().to_string()).map(success);
    };
    match command {
        Command::Serve(args) => serve::run(&args).map(success),
        Command::Demo(args) => demo::run(&args).map(success),
        Command::Bench(args) => postrider_bench::run(*args, bench_lives::live).map(success),
        Command::Chaos(args) => chaos::run(&args).map(success),
        Command::MigrateStore(args) => migrate_store::run(&args),
        Command::Cluster(args) => args.run().map(success),
        Command::Openapi => terminal::say(&String::from_utf8_lossy(&api::document::text())).map(success),
        Command::Plan(args) => configuration::run_plan(&args),
        Command::Apply(args) => configuration::run_apply(&args),
        Command::Export(args) => configuration::run_export(&args),
        Command::Events(args) => args.run().map(success),
        Command::Listen(args) => args.run().map(success),
        Command::Inspect(args) => args.run().map(success),
        Command::Replay(args) => args.run().map(success),
        Command::Dlq(args) => args.run().map(success),
        Command::Queue(args) => args.run().map(success),
        Command::Doctor(args) => doctor::run(&args),
        Command::Destinations(args) => args.run().map(success),
        Command::Sources(args) => args.run().map(success),
        Command::Routes(args) => args.run().map(success),
        Command::Accounts(args) => args.run().map(success),
        Command::Keys(args) => args.run().map(success),
        Command::Completions(args) => args.run().map(success),
        Command::Man(args) => args.run().map(success),
        Command::Send(args) => args.run().map(success),
        Command::Trigger(args) => args.run().map(success),
        Command::Top(args) => args.run().map(success),
        Command::Verify(args) => args.run().map(success),
        Command::Backup(args) => args.run().map(success),
        Command::Restore(args) => args.run().map(success),
    }
}

fn success((): ()) -> ExitCode {
    ExitCode::SUCCESS
}
