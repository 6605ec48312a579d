//! `--database-url`: whole lives of events on a PostgreSQL server, without HTTP. The gateway's store with one node and
//! several, with one destination and many, with much behind it, beside two designs from the textbook: all on the same
//! server, in one run, each in a schema of its own that is dropped afterwards. Then two gateways on it, and how long an
//! event takes that the one takes and the other sends.

mod args;
mod filling;
mod footprint;
mod order;
mod passing_on;
mod report;
mod schema;
mod server_cpu;
mod textbook;

pub(crate) use args::DatabaseArgs;
pub use order::{LifeOrder, Lives};

use crate::args::BenchArgs;
use crate::progress::progress;
use crate::scenario::comparison::Comparison;
use crate::units::{float, per_second};
use filling::Kind;
use footprint::Footprint;
use schema::Schema;
use server_cpu::ServerCpu;
use std::time::{Duration, Instant};
use textbook::Design;

/// What a measurement came to.
#[derive(Debug, Clone, Copy)]
struct Measured {
    lives_per_s: f64,
    /// Not a number when the server is on another machine.
    cpu_us: f64,
    /// Of a life.
    left: Footprint,
}

struct Bench<'a> {
    args: &'a BenchArgs,
    url: &'a str,
    lives: Lives,
}

pub(crate) async fn measure(args: &BenchArgs, url: &str, lives: Lives) -> anyhow::Result<Vec<Comparison>> {
    let [speed, bytes] = whole_lives(args, url, lives).await?;
    Ok(vec![speed, bytes, passing_on::measure(args, url).await?])
}

async fn whole_lives(args: &BenchArgs, url: &str, lives: Lives) -> anyhow::Result<[Comparison; 2]> {
    let bench = Bench { args, url, lives };
    let claims = bench.textbook(Design::Claims).await?;
    let counter = bench.textbook(Design::Counter).await?;
    let mut nodes = Vec::new();
    for count in &args.database.nodes {
        nodes.push((*count, bench.nodes(*count).await?));
    }
    let one = nodes.iter().find(|(count, _)| *count == 1).map(|(_, measured)| *measured);
    let one = match one {
        Some(one) => one,
        None => bench.nodes(1).await?,
    };
    let hot = bench.hot().await?;
    let laden = match (args.pending, args.database.finished) {
        (0, 0) => None,
        _ => Some(bench.laden().await?),
    };
    Ok(report::of(args, [claims, counter], one, &nodes, hot, laden))
}

impl Bench<'_> {
    async fn textbook(&self, design: Design) -> anyhow::Result<Measured> {
        let (events, workers) = (self.args.database.textbook_events, self.args.database.workers);
        progress!("{}: {events} events, {workers} workers", design.name());
        let schema = Schema::make(self.url).await?;
        let tables = textbook::Tables::make(design, &schema.url, self.args.database.cold).await?;
        let measured = self
            .measured(&schema, events, async {
                let begun = Instant::now();
                tables.live(events, workers, self.args.size).await?;
                Ok(begun.elapsed())
            })
            .await?;
        schema.drop().await?;
        Ok(measured)
    }

    /// Events spread over many destinations.
    async fn nodes(&self, nodes: u8) -> anyhow::Result<Measured> {
        progress!(
            "{nodes} node(s): {} events over {} destinations",
            self.args.events,
            self.args.database.cold
        );
        self.fresh(LifeOrder { nodes, ..self.order() }).await
    }

    /// All events for one destination.
    async fn hot(&self) -> anyhow::Result<Measured> {
        progress!("1 node: {} events for one destination", self.args.events);
        self.fresh(LifeOrder { destinations: 1, ..self.order() }).await
    }

    /// The same as with one node, with much finished and much pending before it.
    async fn laden(&self) -> anyhow::Result<Measured> {
        let (pending, finished) = (self.args.pending, self.args.database.finished);
        let schema = Schema::make(self.url).await?;
        let order = LifeOrder { url: schema.url.clone(), ..self.order() };
        progress!("filling: {finished} finished");
        self.live(LifeOrder { events: filling::lived(finished), ..order.clone() }).await?;
        filling::copy(&schema.url, Kind::Finished, finished).await?;
        progress!("filling: {pending} pending");
        self.live(LifeOrder { events: 0, pending: filling::lived(pending), ..order.clone() }).await?;
        filling::copy(&schema.url, Kind::Pending, pending).await?;
        progress!("settling");
        filling::settle(&schema.url, finished, pending).await?;
        progress!("1 node: {} events, with {pending} pending and {finished} finished", self.args.events);
        let measured = self.measured(&schema, self.args.events, self.live(order)).await?;
        schema.drop().await?;
        Ok(measured)
    }

    fn order(&self) -> LifeOrder {
        LifeOrder {
            url: self.url.to_owned(),
            nodes: 1,
            events: self.args.events,
            pending: 0,
            destinations: self.args.database.cold,
            size_bytes: self.args.size,
            batch: self.args.database.batch,
        }
    }

    async fn fresh(&self, order: LifeOrder) -> anyhow::Result<Measured> {
        let schema = Schema::make(self.url).await?;
        let events = order.events;
        let order = LifeOrder { url: schema.url.clone(), ..order };
        let measured = self.measured(&schema, events, self.live(order)).await?;
        schema.drop().await?;
        Ok(measured)
    }

    /// Has the program's own nodes live it, on threads of theirs.
    async fn live(&self, order: LifeOrder) -> anyhow::Result<Duration> {
        let lives = self.lives;
        tokio::task::spawn_blocking(move || lives(&order)).await?
    }

    async fn measured(
        &self,
        schema: &Schema,
        events: u64,
        work: impl Future<Output = anyhow::Result<Duration>>,
    ) -> anyhow::Result<Measured> {
        let server = ServerCpu::find(&schema.url).await?;
        let footprint = Footprint::now(schema).await?;
        let before = server.as_ref().and_then(ServerCpu::spent);
        let took = work.await?;
        let after = server.as_ref().and_then(ServerCpu::spent);
        let left = Footprint::now(schema).await?.a_life_since(footprint, float(events.max(1)));
        let spent = before.zip(after).map(|(before, after)| after.saturating_sub(before));
        let cpu_us = spent.map_or(f64::NAN, |spent| spent.as_secs_f64() * 1e6 / float(events.max(1)));
        let lives_per_s = per_second(events, took);
        let Footprint { log_bytes, stored_bytes } = left;
        progress!(
            "  {lives_per_s:.0} lives/s, each {cpu_us:.0} µs of the server's CPU, {log_bytes:.0} bytes of its log and {stored_bytes:.0} of its tables"
        );
        Ok(Measured { lives_per_s, cpu_us, left })
    }
}
