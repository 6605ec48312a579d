//! The program behind `scripts/torture`.

mod args;

use args::Args;
use clap::Parser;
use postrider_torture::fleet::Store;
use postrider_torture::rig::random::fresh_seed;
use postrider_torture::run::{Faults, Options, Outcome, run};
use postrider_torture::{soak, table};
use std::process::ExitCode;
use std::time::Duration;

/// Of what is wrong with a run, so much is shown.
const SHOWN: usize = 30;

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let seed = args.seed.unwrap_or_else(fresh_seed);
    let mut red = false;
    for store in args.store.all() {
        println!("{}: {} s, seed {seed}", store.name(), args.seconds());
        let outcome = one_run(&args, store, seed)?;
        show(&outcome);
        if !outcome.verdict.is_green() {
            red = true;
            println!("{}: RED. To see it again: {}", store.name(), again(&args, store, seed));
        }
    }
    Ok(if red { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn one_run(args: &Args, store: Store, seed: u64) -> anyhow::Result<Outcome> {
    let mut samples = Vec::new();
    let outcome = run(&options(args, store, seed), |watch, fleet, sink| {
        if args.soak {
            samples.push(soak::sample(watch, fleet, sink));
        }
    })?;
    if args.soak {
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

fn options(args: &Args, store: Store, seed: u64) -> Options {
    Options {
        binary: args.binary.clone(),
        store,
        duration: Duration::from_secs(args.seconds()),
        seed,
        rate: args.rate,
        faults: if args.calm { Faults::None } else { Faults::All },
    }
}

fn show(outcome: &Outcome) {
    let Outcome { verdict, log, history, drained_in } = outcome;
    print!("{}", table::render(verdict));
    let arrivals = history.arrivals.len();
    let (posted, deeds, faults) = (history.posted.len(), log.deeds.len(), log.faults.len());
    println!(
        "{posted} posted, {arrivals} arrived, {deeds} deeds of which {faults} may cut off, drained in {:.1} s",
        drained_in.as_secs_f64()
    );
    let findings = &verdict.findings;
    findings.iter().take(SHOWN).for_each(|finding| println!("  {finding}"));
    if findings.len() > SHOWN {
        println!("  and {} more", findings.len() - SHOWN);
    }
}

fn again(args: &Args, store: Store, seed: u64) -> String {
    let calm = if args.calm { " --calm" } else { "" };
    let (seconds, rate) = (args.seconds(), args.rate);
    format!("scripts/torture --store {} --seconds {seconds} --rate {rate} --seed {seed}{calm}", store.name())
}
