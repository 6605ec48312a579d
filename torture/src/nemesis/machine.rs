//! Processes that are killed, frozen, stopped and cut off from their database, and a database that dies.

use super::Shared;
use super::plan::Deck;
use crate::fleet::{Database, LEASE, Store};
use crate::history::Struck;
use crate::rig::proxy::Proxy;
use crate::rig::random::Random;
use anyhow::Context as _;
use rustix::process::Signal;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Blow {
    Kill,
    KillAndKillTheStart,
    Terminate,
    Freeze,
    Cut,
    Stall,
    CutAll,
    KillBackend,
    KillPostmaster,
    RestartDatabase,
}

const OF_ANY: &[Blow] = &[Blow::Kill, Blow::KillAndKillTheStart, Blow::Terminate, Blow::Freeze];
const OF_DATABASES: &[Blow] =
    &[Blow::Cut, Blow::Stall, Blow::CutAll, Blow::KillBackend, Blow::KillPostmaster, Blow::RestartDatabase];

impl Blow {
    /// Whom it strikes when it is meant for this node.
    fn strikes(self, node: usize) -> Struck {
        match self {
            Blow::Kill
            | Blow::KillAndKillTheStart
            | Blow::Terminate
            | Blow::Freeze
            | Blow::Cut
            | Blow::Stall => Struck::Node(node),
            Blow::CutAll | Blow::KillBackend | Blow::KillPostmaster | Blow::RestartDatabase => Struck::All,
        }
    }
}

/// Before the first blow.
const FIRST_AFTER: Duration = Duration::from_secs(2);
/// What a process had written before it was killed may be read from the socket this much later.
const READ_LATE: Duration = Duration::from_secs(1);
/// A node that is heard of again needs this long to hear that it was taken for dead.
const HEARD_LATE: Duration = Duration::from_secs(1);

pub(super) fn names() -> impl Iterator<Item = String> {
    [OF_ANY, OF_DATABASES].into_iter().flatten().map(|blow| format!("{blow:?}"))
}

/// The kinds of blow to the machine of a run.
pub(super) fn blows(store: Store) -> Vec<Blow> {
    match store {
        Store::Embedded => OF_ANY.to_vec(),
        Store::Postgres => [OF_ANY, OF_DATABASES].concat(),
    }
}

/// One blow, and the peace after it.
struct Turn {
    blow: Blow,
    node: usize,
    lasts: Duration,
    rest: Duration,
}

/// All that happens to a machine, as the seed has it.
struct Turns {
    blows: Deck<Blow>,
    nodes: usize,
    /// The least and the most between two blows.
    rest: [Duration; 2],
    random: Random,
}

impl Turns {
    fn draw(&mut self) -> Turn {
        let Turns { blows, nodes, rest: [least, most], random } = self;
        Turn {
            blow: blows.draw(random),
            node: random.below(*nodes),
            // Half of the faults end before a lease does, half after.
            lasts: random.between(Duration::from_millis(200), LEASE * 2),
            rest: random.between(*least, *most),
        }
    }
}

pub(super) fn strike(shared: &Shared, random: Random) -> anyhow::Result<()> {
    let fleet = &shared.fleet;
    let blows = Deck::of(&blows(fleet.store()));
    let mut turns = Turns { blows, nodes: fleet.size(), rest: shared.rest, random };
    shared.pass(FIRST_AFTER);
    while !shared.is_over() {
        let Turn { blow, node, lasts, rest } = turns.draw();
        let what = match blow.strikes(node) {
            Struck::Node(node) => format!("{blow:?} node {node}"),
            Struck::All => format!("{blow:?}"),
        };
        shared.does(&what);
        land(shared, blow, node, lasts, &what)?;
        shared.fleet.node(node).look();
        shared.pass(rest);
    }
    Ok(())
}

fn land(shared: &Shared, blow: Blow, node: usize, lasts: Duration, what: &str) -> anyhow::Result<()> {
    let from = shared.watch.now();
    match blow {
        Blow::Kill => kill(shared, node, lasts, what),
        Blow::KillAndKillTheStart => {
            shared.fleet.node(node).kill();
            shared.fleet.node(node).spawn();
            shared.pass(lasts / 10);
            shared.fault(what, blow.strikes(node), from, READ_LATE);
            kill(shared, node, Duration::ZERO, what);
        }
        Blow::Terminate => {
            let wrong = shared.fleet.node(node).stop();
            shared.fleet.node(node).start();
            anyhow::ensure!(wrong.is_none(), "{}", wrong.unwrap_or_default());
        }
        Blow::Freeze => {
            shared.fleet.node(node).signal(Signal::STOP);
            shared.pass(lasts);
            shared.fleet.node(node).signal(Signal::CONT);
            shared.fleet.wait_until_ready()?;
            shared.fault(what, blow.strikes(node), from, HEARD_LATE);
        }
        _ => {
            let database = shared.fleet.database().context("only of those who have a database")?;
            strike_database(shared, database, blow, node, lasts);
            // A server that recovers, and nodes that have not found it yet, are part of the fault.
            shared.fleet.wait_until_ready()?;
            shared.fault(what, blow.strikes(node), from, HEARD_LATE);
        }
    }
    Ok(())
}

/// Killed, away for a while, and started again.
fn kill(shared: &Shared, node: usize, away: Duration, what: &str) {
    let from = shared.watch.now();
    shared.fleet.node(node).kill();
    shared.fault(what, Struck::Node(node), from, READ_LATE);
    shared.pass(away);
    shared.fleet.node(node).start();
}

fn strike_database(shared: &Shared, database: &Database, blow: Blow, node: usize, lasts: Duration) {
    match blow {
        Blow::Cut => database.proxies[node].cut(),
        Blow::Stall => database.proxies[node].stall(),
        Blow::CutAll => database.proxies.iter().for_each(Proxy::cut),
        // The server takes it for a crash and starts anew by itself.
        Blow::KillBackend => database.kill_backend(),
        Blow::KillPostmaster => database.server.kill(),
        _ => database.server.stop(),
    }
    shared.pass(lasts);
    match blow {
        Blow::Cut | Blow::Stall | Blow::CutAll => database.proxies.iter().for_each(Proxy::restore),
        Blow::KillBackend => {}
        _ => database.server.start_again(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nemesis::plan::{BLOW, seldom};
    use std::collections::BTreeSet;

    const SOAK: Duration = Duration::from_secs(1800);

    /// What lands in a soak in which every blow takes as long as it may.
    fn landed(store: Store, seed: u64) -> BTreeSet<Blow> {
        let blows = blows(store);
        let rest = seldom(SOAK, blows.len());
        let mut turns = Turns { blows: Deck::of(&blows), nodes: 3, rest, random: Random::seeded(seed) };
        let (mut at, mut landed) = (FIRST_AFTER, BTreeSet::new());
        while at < SOAK {
            let turn = turns.draw();
            landed.insert(turn.blow);
            at += BLOW + turn.rest;
        }
        landed
    }

    #[test]
    fn every_blow_lands_in_a_soak_of_half_an_hour() {
        for store in [Store::Embedded, Store::Postgres] {
            let all: BTreeSet<Blow> = blows(store).into_iter().collect();
            for seed in 0..500 {
                assert_eq!(landed(store, seed), all, "{} by seed {seed}", store.name());
            }
        }
    }
}
