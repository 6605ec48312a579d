//! The scenarios, one after the other, and the figures they give.

pub(crate) mod backlog;
pub(crate) mod healthy;
pub(crate) mod run;
pub(crate) mod throughput;

use crate::args::BenchArgs;
use crate::machine::Machine;
use crate::report::Report;
use crate::role::Receiver;
use std::path::Path;

/// Runs what the command line asks for, and reports.
pub(crate) async fn run_all(args: &BenchArgs) -> anyhow::Result<()> {
    anyhow::ensure!(args.rounds > 0 || args.pending > 0, "nothing to do: --rounds 0 and no --pending");
    let work_dir = args.work_dir.clone().unwrap_or_else(std::env::temp_dir);
    let machine = Machine::describe(Path::new(&work_dir));
    let receiver = Receiver::start().await?;
    let throughput = match args.rounds {
        0 => None,
        _ => Some(throughput::measure(args, &receiver).await?),
    };
    let (backlog, failure) = match args.pending {
        0 => (None, Ok(())),
        _ => match backlog::measure(args, &receiver).await {
            Ok(backlog) => (Some(backlog), Ok(())),
            Err(error) => (None, Err(error)),
        },
    };
    // What has been measured is published even where the backlog failed.
    Report { machine, throughput, backlog }.publish(args.json.as_deref())?;
    failure
}
