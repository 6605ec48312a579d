//! `postrider doctor`: the runbook as a program. It looks at a running gateway, says what is wrong, and which command
//! comes next.

mod examine;
mod finding;
mod report;
mod rules;
mod snapshot;

pub(crate) use examine::an_hour_before;
pub(crate) use finding::Finding;
pub(crate) use snapshot::{AccountSeen, LastAttempt, SHED_MINUTES, SettingsSeen, Snapshot};

use crate::client::{GatewayArgs, is_passing};
use clap::Args;
use examine::examine;
use finding::Severity;
use report::Report;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// Print JSON, one object for each look
    #[arg(long)]
    json: bool,
    /// Repeat, and report whether problems get better or worse
    #[arg(long)]
    watch: bool,
    /// Seconds between checks
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600), requires = "watch")]
    every: u64,
    /// Stop after this many checks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = "watch")]
    looks: Option<u64>,
    #[command(flatten)]
    gateway: GatewayArgs,
}

/// What is wrong, the worst first.
pub(crate) fn diagnose(seen: &Snapshot) -> Vec<Finding> {
    let mut findings = rules::all(seen);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// Looks once, or for as long as somebody watches; the exit code is that of the last look.
pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let access = args.gateway.access()?;
    let looks = if args.watch { args.looks.unwrap_or(u64::MAX) } else { 1 };
    let mut before: Option<Snapshot> = None;
    let mut look = 0;
    loop {
        look += 1;
        let report = match examine(&access) {
            Ok(seen) => {
                let report = Report::of(&seen, before.as_ref());
                before = Some(seen);
                report
            }
            // Whoever watches a gateway come back wants to see it go.
            Err(error) if look < looks && is_passing(&error) => Report::of_no_look(&error),
            Err(error) => return Err(error),
        };
        match args.json {
            true => report.say_json()?,
            false => report.say()?,
        }
        if look == looks {
            return Ok(code(report.severity()));
        }
        std::thread::sleep(Duration::from_secs(args.every));
    }
}

/// 1 is for a command that could not be carried out.
fn code(severity: Option<Severity>) -> ExitCode {
    match severity {
        None | Some(Severity::Note) => ExitCode::SUCCESS,
        Some(Severity::Warning) => ExitCode::from(2),
        Some(Severity::Critical) => ExitCode::from(3),
    }
}
