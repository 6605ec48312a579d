//! Many worlds, and planted bugs that must be found in them.

use super::*;

#[test]
fn replay() {
    let seed = std::env::var("POSTRIDER_SIM_SEED").unwrap().parse().unwrap();
    match run(seed, &Options { trace: true, ..Options::default() }) {
        Ok(report) => println!("{seed} {report:?}"),
        Err(violation) => { for l in &violation.trace { println!("{l}"); } println!("VIOLATION {violation}")},
    }
}
#[test]
fn one() {
    for seed in 0..200 {
        match run(seed, &Options::default()) {
            Ok(report) => println!("{seed} {report:?}"),
            Err(violation) => println!("VIOLATION {violation}"),
        }
    }
}
