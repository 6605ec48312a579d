//! Throughput: the same load through the forwarder and through the gateway, in turn, so that a machine that
//! gets slower or faster meanwhile does so to both.

use super::run::{self, COMPARED, Compared, Run};
use crate::args::{BenchArgs, Role};
use crate::gateway::Gateway;
use crate::progress::progress;
use crate::role::{Receiver, Server};
use crate::scratch::Scratch;
use crate::spread::Spread;
use anyhow::Context as _;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Throughput {
    pub(crate) events: u64,
    pub(crate) size_bytes: u32,
    pub(crate) connections: u16,
    pub(crate) destinations: u8,
    pub(crate) rounds: Vec<Round>,
    pub(crate) summary: Summary,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Round {
    pub(crate) forwarder: Run,
    pub(crate) gateway: Run,
    /// Delivered per second, gateway by forwarder.
    pub(crate) ratio: f64,
}

/// Medians and spreads over the rounds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Summary {
    pub(crate) forwarder: Vec<Figure>,
    pub(crate) gateway: Vec<Figure>,
    pub(crate) ratio: Spread,
    /// CPU of an event, gateway by forwarder.
    pub(crate) cpu_ratio: Spread,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    #[serde(flatten)]
    pub(crate) spread: Spread,
}

pub(crate) async fn measure(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Throughput> {
    let mut rounds = Vec::new();
    for number in 1..=args.rounds {
        progress!("round {number} of {}: the forwarder", args.rounds);
        let forwarder = measure_forwarder(args, receiver).await?;
        progress!("  {:.0} events/s; now the gateway", forwarder.delivered_per_s);
        let gateway = measure_gateway(args, receiver).await?;
        let ratio = gateway.delivered_per_s / forwarder.delivered_per_s;
        progress!("  {:.0} events/s, {ratio:.2} of the forwarder", gateway.delivered_per_s);
        rounds.push(Round { forwarder, gateway, ratio });
    }
    Ok(Throughput {
        events: args.events,
        size_bytes: args.size,
        connections: args.connections,
        destinations: args.destinations,
        summary: summarise(&rounds).context("no rounds to summarise")?,
        rounds,
    })
}

fn summarise(rounds: &[Round]) -> Option<Summary> {
    Some(Summary {
        forwarder: figures(rounds, |round| &round.forwarder)?,
        gateway: figures(rounds, |round| &round.gateway)?,
        ratio: Spread::of(rounds.iter().map(|round| round.ratio))?,
        cpu_ratio: Spread::of(rounds.iter().map(cpu_ratio))?,
    })
}

fn cpu_ratio(round: &Round) -> f64 {
    round.gateway.cpu_us_per_event / round.forwarder.cpu_us_per_event
}

fn figures(rounds: &[Round], subject: fn(&Round) -> &Run) -> Option<Vec<Figure>> {
    let figure = |&(name, of): &Compared| {
        Some(Figure { name, spread: Spread::of(rounds.iter().map(|round| of(subject(round))))? })
    };
    COMPARED.iter().map(figure).collect()
}

async fn measure_forwarder(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Run> {
    let forwarder = Server::start(Role::Forwarder, &[receiver.url("/")]).await?;
    let urls: Vec<String> = paths(args.destinations).map(|path| forwarder.url(&path)).collect();
    run::measure(args, forwarder.pid(), &urls, receiver).await
}

pub(crate) async fn measure_gateway(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Run> {
    // Declared first and so dropped last: the gateway must be gone before its directory is.
    let home = Scratch::create(args.work_dir.as_deref())?;
    let gateway = Gateway::start(home.path(), &args.gateway_args).await?;
    let urls = wires(args, &gateway, receiver).await?;
    run::measure(args, gateway.pid(), &urls, receiver).await
}

/// A wire for each destination; gives where events go in.
pub(crate) async fn wires(
    args: &BenchArgs,
    gateway: &Gateway,
    receiver: &Receiver,
) -> anyhow::Result<Vec<String>> {
    let mut urls = Vec::new();
    for path in paths(args.destinations) {
        let wire = gateway.wire(&format!("bench {path}"), &receiver.url(&path)).await?;
        urls.push(gateway.ingest_url(&wire));
    }
    Ok(urls)
}

/// `/hook/a`, `/hook/b` and so on: one for each destination.
pub(crate) fn paths(destinations: u8) -> impl Iterator<Item = String> {
    ('a'..='z').take(usize::from(destinations)).map(|letter| format!("/hook/{letter}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_destination_has_a_path_of_its_own() {
        assert_eq!(paths(2).collect::<Vec<_>>(), ["/hook/a", "/hook/b"]);
        assert_eq!(paths(26).count(), 26);
    }
}
