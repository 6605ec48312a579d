//! The figures of all runs beside each other, and what is promised of them.

use super::Measured;
use super::textbook::Design;
use crate::args::BenchArgs;
use crate::scenario::comparison::{Comparison, Figure};
use crate::units::number;
use crate::verdict::{Goal, ratio};

pub(super) fn of(
    args: &BenchArgs,
    [claims, counter]: [Measured; 2],
    one: Measured,
    nodes: &[(u8, Measured)],
    hot: Measured,
    laden: Option<Measured>,
) -> [Comparison; 2] {
    let mut rows = vec![(Design::Claims.name(), claims), (Design::Counter.name(), counter)];
    rows.extend(nodes.iter().map(|(count, measured)| (node_name(*count), *measured)));
    rows.push(("1 node, one destination", hot));
    rows.extend(laden.map(|laden| ("1 node, with pending and finished", laden)));
    [speed(args, &rows, goals([claims, counter], one, nodes, hot, laden)), bytes(args, &rows)]
}

fn goals(
    [claims, counter]: [Measured; 2],
    one: Measured,
    nodes: &[(u8, Measured)],
    hot: Measured,
    laden: Option<Measured>,
) -> Vec<Goal> {
    let best = claims.lives_per_s.max(counter.lives_per_s);
    let mut goals = vec![Goal::at_least("1 node by the better textbook", ratio(one.lives_per_s, best), 10.0)];
    for (count, measured) in nodes.iter().filter(|(count, _)| *count > 1) {
        goals.push(Goal::at_least(node_goal(*count), ratio(measured.lives_per_s, one.lives_per_s), 0.7));
    }
    goals.push(Goal::at_most("CPU: one destination by many", hot.cpu_us / one.cpu_us, 1.0));
    goals.extend(
        laden.map(|laden| Goal::at_least("laden by empty", ratio(laden.lives_per_s, one.lives_per_s), 0.75)),
    );
    goals
}

fn speed(args: &BenchArgs, rows: &[(&'static str, Measured)], goals: Vec<Goal>) -> Comparison {
    let row = |(name, of): &(&'static str, Measured)| Figure {
        name,
        without: Some(of.lives_per_s),
        with: finite(of.cpu_us),
    };
    let title = format!(
        "Database: {} events of {} bytes, {} destinations, batches of {}; {} pending and {} finished where laden",
        number(args.events),
        number(args.size.into()),
        number(args.database.cold),
        args.database.batch,
        number(args.pending),
        number(args.database.finished),
    );
    let figures = rows.iter().map(row).collect();
    Comparison::new("database", title, ["lives/s", "server CPU µs"], figures, goals)
}

/// Of the same runs: what has no goal and is what a server is sized by.
fn bytes(args: &BenchArgs, rows: &[(&'static str, Measured)]) -> Comparison {
    let row = |(name, of): &(&'static str, Measured)| Figure {
        name,
        without: finite(of.left.log_bytes),
        with: finite(of.left.stored_bytes),
    };
    let title = format!("What a life leaves behind: of an event of {} bytes", number(args.size.into()));
    let figures = rows.iter().map(row).collect();
    Comparison::new("database-bytes", title, ["log bytes", "table bytes"], figures, Vec::new())
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

fn node_name(count: u8) -> &'static str {
    match count {
        1 => "1 node",
        2 => "2 nodes",
        4 => "4 nodes",
        8 => "8 nodes",
        _ => "several nodes",
    }
}

fn node_goal(count: u8) -> &'static str {
    match count {
        2 => "2 nodes by 1",
        4 => "4 nodes by 1",
        8 => "8 nodes by 1",
        _ => "several nodes by 1",
    }
}
