//! The program behind `scripts/torture`.

mod args;
mod page;

use args::Args;
use clap::Parser;
use postrider_torture::fleet::Store;
use postrider_torture::history::SECOND;
use postrider_torture::load::Rate;
use postrider_torture::rig::random::fresh_seed;
use postrider_torture::run::{Faults, Options, Outcome, run};
use postrider_torture::{soak, table};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Of what is wrong with a run, so much is shown.
const SHOWN: usize = 30;

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    if args.keep_results {
        page::keep_results(&args)?;
        return Ok(ExitCode::SUCCESS);
    }
    let seed = args.seed.unwrap_or_else(fresh_seed);
    let (mut red, mut results) = (false, Vec::new());
    for store in args.store.all() {
        println!("{}: {} s, seed {seed}", store.name(), args.seconds());
        let outcome = match one_run(&args, store, seed) {
            Ok(outcome) => outcome,
            // The other store is looked at all the same.
            Err(error) => {
                red = true;
                println!("{}: RED. It could not be run: {error:#}", store.name());
                continue;
            }
        };
        show(&outcome);
        results.push((store, page::result(&args, store, seed, &outcome)));
        if !outcome.verdict.is_green() {
            red = true;
            show_deeds(&outcome);
            show_where(&args, store, seed);
        }
    }
    if !red {
        page::write(&args, &results)?;
    }
    Ok(if red { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn one_run(args: &Args, store: Store, seed: u64) -> anyhow::Result<Outcome> {
    let mut samples = Vec::new();
    let mut outcome = run(&options(args, store, seed), |watch, fleet, sink| {
        if args.soak {
            samples.push(soak::sample(watch, fleet, sink));
        }
    })?;
    if args.soak {
        outcome.verdict.findings.extend(soak::leaks(&samples));
        let path = args.reports.join(format!("soak-{}.html", store.name()));
        let title = format!("Soak: {}, {} s, seed {seed}", store.name(), args.seconds());
        soak::write(&path, &title, &outcome, &samples)?;
        let slope = soak::mebibytes_per_hour(&samples);
        let slope =
            slope.map_or("no process lived long enough".to_owned(), |slope| format!("{slope:+.2} MiB/h"));
        println!("resident memory within lives: {slope}; charts in {}", path.display());
    }
    Ok(outcome)
}

fn faults(args: &Args) -> Faults {
    match (args.calm, args.soak) {
        (true, _) => Faults::None,
        (false, true) => Faults::Seldom,
        (false, false) => Faults::All,
    }
}

fn options(args: &Args, store: Store, seed: u64) -> Options {
    Options {
        binary: args.binary.clone(),
        store,
        duration: Duration::from_secs(args.seconds()),
        seed,
        rate: Rate::of(args.rate),
        faults: faults(args),
        logs: Some(logs(args, store, seed)),
    }
}

fn show(outcome: &Outcome) {
    let Outcome { verdict, log, history, drained_in } = outcome;
    print!("{}", table::render(verdict));
    let arrivals = history.arrivals.len();
    let (posted, deeds, faults) = (history.posted.len(), log.deeds.len(), log.faults.len());
    let looked_at = history.records.len();
    println!(
        "{posted} posted, {arrivals} arrived, {deeds} deeds of which {faults} may cut off, drained in {:.1} s; \
         {looked_at} deliveries looked at on record; {}",
        drained_in.as_secs_f64(),
        table::excusable(verdict, arrivals)
    );
    let findings = &verdict.findings;
    findings.iter().take(SHOWN).for_each(|finding| println!("  {finding}"));
    if findings.len() > SHOWN {
        println!("  and {} more", findings.len() - SHOWN);
    }
}

/// What was done, with its moments: what is wrong is looked for there.
fn show_deeds(outcome: &Outcome) {
    let seconds = |moment: u64| moment as f64 / SECOND as f64;
    for (at, deed) in &outcome.log.deeds {
        println!("  {:9.3} s  {deed}", seconds(*at));
    }
    for fault in &outcome.log.faults {
        println!(
            "  {:9.3} s to {:.3} s  {} may cut off",
            seconds(fault.from),
            seconds(fault.until),
            fault.what
        );
    }
}

fn show_where(args: &Args, store: Store, seed: u64) {
    println!("{}: RED", store.name());
    let logs = logs(args, store, seed);
    // What only a soak finds is found when the nodes and their logs are gone.
    if logs.exists() {
        println!("Logs are in {}", logs.display());
    }
    println!("To see it again: {}", again(args, store, seed));
}

fn logs(args: &Args, store: Store, seed: u64) -> PathBuf {
    args.reports.join(format!("{}-{seed}", store.name()))
}

fn again(args: &Args, store: Store, seed: u64) -> String {
    let flags: String = [(args.calm, " --calm"), (args.soak, " --soak")]
        .iter()
        .filter(|flag| flag.0)
        .map(|flag| flag.1)
        .collect();
    let (seconds, rate) = (args.seconds(), args.rate);
    format!("scripts/torture --store {} --seconds {seconds} --rate {rate} --seed {seed}{flags}", store.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_shows_a_run_again_asks_for_the_same_run() {
        for flags in [&[][..], &["--calm"], &["--soak"], &["--soak", "--seconds", "900", "--rate", "7"]] {
            let asked = [&["scripts/torture", "--binary", "postrider"][..], flags].concat();
            let first = Args::parse_from(asked);
            let line = again(&first, Store::Postgres, 5);
            let second = Args::parse_from(line.split(' ').chain(["--binary", "postrider"]));
            let told = |args: &Args| (args.calm, args.soak, args.seconds(), args.rate);
            assert_eq!(told(&second), told(&first), "{line}");
            assert_eq!((second.store.all(), second.seed), (vec![Store::Postgres], Some(5)), "{line}");
        }
    }
}
