//! Many worlds, planted bugs that must be found in them, and a way to look at one of them.

use crate::setup::MANY_SLOTS;
use crate::{Breach, Bug, Options, Report, run};
use std::env;
use std::ops::Range;
use std::time::Duration;

/// Worlds of each part; `POSTRIDER_SIM_WORLDS` asks for more.
const WORLDS: u64 = 50;
const PARTS: u64 = 4;

fn check(seeds: Range<u64>) {
    let mut all = Report::default();
    for seed in seeds {
        match run(seed, &Options::default()) {
            Ok(report) => all.add(&report),
            Err(violation) => panic!(
                "{violation}\nsee it by POSTRIDER_SIM_SEED={seed} cargo test -p postrider-sim replayed"
            ),
        }
    }
    println!("{all:#?}");
    let ends = [all.delivered, all.dead, all.buried, all.repeated, all.revived, all.discarded, all.blocked];
    let faults = [all.crashes, all.stops, all.failed_commits, all.failed_pages];
    let shut = [all.opened, all.restored, all.held, all.limited];
    let seen = [&ends[..], &faults[..], &shut[..]].concat();
    assert!(seen.iter().all(|count| *count > 0), "worlds in which everything happens");
    assert!(all.owed_max > all.waiting_max, "more is owed than windows hold");
    assert!(all.in_flight_max >= MANY_SLOTS as usize, "all slots are in use where some are kept");
}

fn part(number: u64) -> Range<u64> {
    let worlds = env::var("POSTRIDER_SIM_WORLDS").ok().and_then(|text| text.parse().ok()).unwrap_or(WORLDS);
    number * worlds..(number + 1) * worlds
}

#[test]
fn promises_hold_in_all_worlds_of_the_first_part() {
    check(part(0));
}

#[test]
fn promises_hold_in_all_worlds_of_the_second_part() {
    check(part(1));
}

#[test]
fn promises_hold_in_all_worlds_of_the_third_part() {
    check(part(2));
}

#[test]
fn promises_hold_in_all_worlds_of_the_fourth_part() {
    check(part(3));
}

#[test]
fn a_world_is_replayed_from_its_seed_with_a_trace() {
    let asked = env::var("POSTRIDER_SIM_SEED").ok().and_then(|text| text.parse().ok());
    let options = Options { trace: true, ..Options::default() };
    let Some(seed) = asked else {
        let options = Options { length: Duration::from_secs(3600), bug: Some(Bug::OwedDropped), ..options };
        let (first, second) = (run(1, &options).unwrap_err(), run(1, &options).unwrap_err());
        assert!(!first.trace.is_empty());
        assert_eq!((first.at, &first.breach, &first.trace), (second.at, &second.breach, &second.trace));
        return;
    };
    let violation = match run(seed, &options) {
        Ok(report) => return println!("{report:#?}"),
        Err(violation) => violation,
    };
    println!("{}", violation.trace.join("\n"));
    panic!("{violation}");
}

/// What a bug looks like from outside. Several are possible, since it depends on what happens next.
fn looks_like(bug: Bug, breach: &Breach) -> bool {
    use Breach as B;
    match bug {
        Bug::AcceptedUncommitted => matches!(breach, B::WrongContent(_) | B::Lost(_) | B::Late { .. }),
        Bug::OwedDropped | Bug::RetryLost | Bug::PageLost | Bug::LineForgotten => {
            matches!(breach, B::Late { .. } | B::OutOfOrder { .. })
        }
        Bug::FinishedUncommitted => {
            matches!(breach, B::WrongRow(_) | B::Repeated(_) | B::WrongTicket(_) | B::Early { .. })
        }
        Bug::RetryEarly => matches!(breach, B::Early { .. } | B::WrongTicket(_)),
        Bug::PageTwice => matches!(
            breach,
            B::Repeated(_) | B::WrongTicket(_) | B::Early { .. } | B::Panicked(_) | B::Late { .. }
        ),
        Bug::ConcurrencyIgnored => matches!(breach, B::OverConcurrency { .. } | B::WrongLimit { .. }),
        Bug::PauseIgnored => matches!(breach, B::SentToPaused(_) | B::Late { .. }),
        Bug::HoldForgotten => matches!(breach, B::SentWhileHeld { .. }),
        Bug::ClosedWhileHeld => matches!(breach, B::OverConcurrency { .. } | B::KeyTwiceAtOnce(_)),
        Bug::DrainIgnored => matches!(breach, B::SentWhileStopping(_)),
        Bug::SecondProbe => {
            matches!(
                breach,
                B::SecondProbe(_) | B::SentWhileOpen { .. } | B::NotKept(_) | B::OpenedWhileTaking(_)
            )
        }
        Bug::CircuitForgotten | Bug::CircuitUnkept | Bug::CircuitOrderIgnored => matches!(
            breach,
            B::SentWhileOpen { .. }
                | B::SecondProbe(_)
                | B::WrongCircuit { .. }
                | B::OpenedWhileTaking(_)
                | B::Late { .. }
        ),
        Bug::OrderBrokenByRetry => matches!(breach, B::OutOfOrder { .. }),
        Bug::BlockedGoesOn => matches!(breach, B::SentPastDeadLetter { .. }),
        Bug::UnblockForgotten | Bug::ReplayForgotten | Bug::KeysLost => matches!(breach, B::Late { .. }),
        Bug::OrderForgotten => matches!(breach, B::OverConcurrency { .. } | B::WrongLimit { .. }),
        Bug::RateIgnored => matches!(breach, B::OverRate(_)),
        Bug::CapIgnored => matches!(breach, B::OverAccountCap(_)),
        Bug::FloorIgnored => matches!(breach, B::FloorIgnored { .. } | B::KeptSlotTaken { .. }),
        Bug::NothingKept => matches!(breach, B::KeptSlotTaken { .. }),
        Bug::TooMuchKept => matches!(breach, B::Late { .. }),
        // Its cap is of the slots that there were: with fewer it is too many.
        Bug::AloneCapped => matches!(breach, B::Late { .. } | B::OverAccountCap(_)),
        Bug::LimitsIgnored => matches!(
            breach,
            B::OverSlots
                | B::Late { .. }
                | B::KeptSlotTaken { .. }
                | B::FloorIgnored { .. }
                | B::OverAccountCap(_)
                | B::LessUrgentFirst { .. }
        ),
        Bug::LateShareTaken => matches!(breach, B::LateShareTaken { .. } | B::OverAccountCap(_)),
        Bug::SuccessUnheard => {
            matches!(breach, B::OpenedWhileTaking(_) | B::WrongCircuit { .. } | B::NotKept(_))
        }
        Bug::PushbackIgnored => matches!(breach, B::SentWhileOverwhelmed { .. }),
        Bug::RetryAfterIgnored => matches!(breach, B::SentBeforeRetryAfter { .. }),
    }
}

#[test]
fn every_planted_bug_is_found() {
    for bug in Bug::ALL {
        let options = Options { bug: Some(bug), ..Options::default() };
        let found = (0..PARTS * WORLDS).find_map(|seed| run(seed, &options).err());
        let Some(violation) = found else { panic!("{bug:?} was not found") };
        println!("{bug:?}: {violation}");
        assert!(looks_like(bug, &violation.breach), "{bug:?} shows as {violation}");
    }
}
