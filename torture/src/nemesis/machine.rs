//! Processes that are killed, frozen, stopped and cut off from their database, and a database that dies.

use super::Shared;
use super::plan::Deck;
use crate::fleet::{Database, LEASE};
use crate::rig::proxy::Proxy;
use crate::rig::random::Random;
use anyhow::Context as _;
use rustix::process::Signal;
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
enum Blow {
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

/// What a process had written before it was killed may be read from the socket this much later.
const READ_LATE: Duration = Duration::from_secs(1);
/// A node that is heard of again needs this long to hear that it was taken for dead.
const HEARD_LATE: Duration = Duration::from_secs(1);

pub(super) fn names() -> impl Iterator<Item = String> {
    [OF_ANY, OF_DATABASES].into_iter().flatten().map(|blow| format!("{blow:?}"))
}

pub(super) fn strike(shared: &Shared, mut random: Random) -> anyhow::Result<()> {
    let is_shared = shared.fleet.database().is_some();
    let mut blows = Deck::of(&if is_shared { [OF_ANY, OF_DATABASES].concat() } else { OF_ANY.to_vec() });
    shared.pass(Duration::from_secs(2));
    while !shared.is_over() {
        let (blow, node) = (blows.draw(&mut random), random.below(shared.fleet.size()));
        // Half of the faults end before a lease does, half after.
        let lasts = random.between(Duration::from_millis(200), LEASE * 2);
        let what = format!("{blow:?} node {node}");
        shared.does(&what);
        land(shared, blow, node, lasts, &what)?;
        shared.fleet.node(node).look();
        let [least, most] = shared.rest;
        shared.pass(random.between(least, most));
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
            shared.fault(what, from, READ_LATE);
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
            shared.fault(what, from, HEARD_LATE);
        }
        _ => {
            let database = shared.fleet.database().context("only of those who have a database")?;
            strike_database(shared, database, blow, node, lasts);
            // A server that recovers, and nodes that have not found it yet, are part of the fault.
            shared.fleet.wait_until_ready()?;
            shared.fault(what, from, HEARD_LATE);
        }
    }
    Ok(())
}

/// Killed, away for a while, and started again.
fn kill(shared: &Shared, node: usize, away: Duration, what: &str) {
    let from = shared.watch.now();
    shared.fleet.node(node).kill();
    shared.fault(what, from, READ_LATE);
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
