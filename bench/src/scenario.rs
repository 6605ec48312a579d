//! The scenarios, one after the other, and the figures they give.

pub(crate) mod backlog;
pub(crate) mod comparison;
pub(crate) mod healthy;
mod isolation;
mod limits;
mod name;
pub(crate) mod run;
pub(crate) mod throughput;

pub(crate) use comparison::Comparison;
pub(crate) use name::ScenarioName;

use crate::args::BenchArgs;
use crate::database::{self, Lives};
use crate::machine::Machine;
use crate::progress::progress;
use crate::report::Report;
use crate::role::Receiver;
use std::path::Path;

/// Runs what the command line asks for, and reports.
pub(crate) async fn run_all(args: &BenchArgs, lives: Lives) -> anyhow::Result<()> {
    if let Some(url) = &args.database.database_url {
        return Box::pin(on_database(args, url, lives)).await;
    }
    let asked_for = name::asked_for(&args.scenarios, args.rounds, args.pending)?;
    let work_dir = args.work_dir.clone().unwrap_or_else(std::env::temp_dir);
    let machine = Machine::describe(Path::new(&work_dir));
    let receiver = Receiver::start().await?;
    let mut report = Report { machine, throughput: None, backlog: None, comparisons: Vec::new() };
    let mut failure = Ok(());
    for scenario in asked_for {
        let done = Box::pin(run(scenario, args, &receiver, &mut report)).await;
        // A scenario that cannot be measured does not cost the figures of the others.
        if let Err(error) = done {
            progress!("{scenario:?} failed: {error:#}");
            failure = failure.and(Err(error));
        }
    }
    report.publish(args)?;
    failure?;
    report.judge(args)
}

/// Instead of all others.
async fn on_database(args: &BenchArgs, url: &str, lives: Lives) -> anyhow::Result<()> {
    let machine = Machine::describe(&args.work_dir.clone().unwrap_or_else(std::env::temp_dir));
    let comparisons = database::measure(args, url, lives).await?;
    let report = Report { machine, throughput: None, backlog: None, comparisons };
    report.publish(args)?;
    report.judge(args)
}

async fn run(
    scenario: ScenarioName,
    args: &BenchArgs,
    receiver: &Receiver,
    report: &mut Report,
) -> anyhow::Result<()> {
    match scenario {
        ScenarioName::Throughput => report.throughput = Some(throughput::measure(args, receiver).await?),
        ScenarioName::Backlog => report.backlog = Some(backlog::measure(args, receiver).await?),
        other => report.comparisons.push(compare(other, args, receiver).await?),
    }
    Ok(())
}

/// Makes a comparison as often as there are rounds, since one round says little on a machine that others share.
async fn compare(
    scenario: ScenarioName,
    args: &BenchArgs,
    receiver: &Receiver,
) -> anyhow::Result<Comparison> {
    let most = args.size_of(args.rounds.max(1), 1);
    let mut rounds = Vec::new();
    for round in 1..=most {
        progress!("{scenario:?}, round {round} of {most}");
        receiver.reset().await?;
        receiver.end_outage().await?;
        rounds.push(match limits::measure(scenario, args, receiver).await? {
            Some(measured) => measured,
            None => isolation::measure(scenario, args, receiver).await?,
        });
    }
    Comparison::of_rounds(&rounds)
}
