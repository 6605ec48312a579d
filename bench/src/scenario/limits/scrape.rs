//! Scrape: metrics of a gateway with a great many destinations. How long an idle one takes to tell them, and what it
//! costs deliveries to be asked every second.
//!
//! The destinations are listed in the gateway's file: it makes all of them in one change, and the API one by one. Each is
//! owed an event: what is owed nothing costs nothing to tell.

use super::super::run::{self, Run};
use super::super::throughput::wires;
use super::{Comparison, Figure};
use crate::api::Api;
use crate::args::BenchArgs;
use crate::gateway::Gateway;
use crate::latency::Latency;
use crate::progress::progress;
use crate::role::Receiver;
use crate::scratch::Scratch;
use crate::units::{milliseconds, nanoseconds, number};
use crate::verdict::{Goal, ratio};
use anyhow::Context as _;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

const DESTINATIONS: u64 = 100_000;
const DESTINATIONS_QUICK: u64 = 200;
/// Scrapes of the idle gateway: enough for the slowest of them to say something.
const SCRAPES: u32 = 30;
const SCRAPES_QUICK: u32 = 3;
const IDLE_MS_MAX: f64 = 100.0;
/// It may cost a twentieth.
const RATIO_MIN: f64 = 0.95;
/// Longer than a gateway shares one picture of its queue among those who ask: each has its own made.
const SCRAPE_INTERVAL: Duration = Duration::from_secs(1);

pub(super) async fn measure(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Comparison> {
    let destinations = args.size_of(DESTINATIONS, DESTINATIONS_QUICK);
    // Declared first and so dropped last: the gateway must be gone before its directory is.
    let home = Scratch::create(args.work_dir.as_deref())?;
    let file = home.path().join("destinations.toml");
    std::fs::write(&file, listed(destinations)).with_context(|| format!("write {}", file.display()))?;
    let further =
        [args.gateway_args.clone(), vec!["--config".to_owned(), file.display().to_string()]].concat();
    progress!("scrape: a gateway with {} destinations", number(destinations));
    let gateway = Gateway::start(home.path(), &further).await?;
    let api = Api::new(gateway.address(), Some(Gateway::ADMIN_KEY))?;
    progress!("  ready after {:.1} s; now an event for each", gateway.ready_after().as_secs_f64());
    owe_all(&api, destinations, args.deadline()).await?;
    progress!("  all are owed it; now it is idle");
    let mut idle = Latency::new();
    let mut seconds = tokio::time::interval(SCRAPE_INTERVAL);
    for _ in 0..args.size_of(SCRAPES, SCRAPES_QUICK) {
        seconds.tick().await;
        scrape(&api, &mut idle).await?;
    }
    let urls = wires(args, &gateway, receiver).await?;
    progress!("  {:.1} ms at most; now it delivers", milliseconds(idle.max_us()));
    let alone = run::measure(args, gateway.pid(), &urls, receiver).await?;
    progress!("  {:.0} events/s not scraped; now it is", alone.delivered_per_s);
    let mut busy = Latency::new();
    let scraped = tokio::select! {
        measured = run::measure(args, gateway.pid(), &urls, receiver) => measured?,
        refused = scrape_on(&api, &mut busy) => return Err(refused),
    };
    Ok(comparison(args, destinations, [&alone, &scraped], [&idle, &busy]))
}

fn comparison(
    args: &BenchArgs,
    destinations: u64,
    [alone, scraped]: [&Run; 2],
    [idle, busy]: [&Latency; 2],
) -> Comparison {
    let ms = milliseconds;
    let figures = vec![
        Figure::both("delivered per s", alone.delivered_per_s, scraped.delivered_per_s),
        Figure::both("receipt p99 ms", ms(alone.receipt_p99_us), ms(scraped.receipt_p99_us)),
        Figure::both("cpu µs per event", alone.cpu_us_per_event, scraped.cpu_us_per_event),
        Figure::with("scrape p50 ms, idle", ms(idle.p50_us())),
        Figure::with("scrape p50 ms, delivering", ms(busy.p50_us())),
        Figure::with("scrape max ms, delivering", ms(busy.max_us())),
    ];
    let title = format!(
        "Scrape: {} destinations, each owed something; {} events of {} bytes to {} of them, {} connections",
        number(destinations + u64::from(args.destinations)),
        number(args.events),
        number(args.size.into()),
        args.destinations,
        args.connections
    );
    let cost = ratio(scraped.delivered_per_s, alone.delivered_per_s);
    let goals = vec![
        Goal::at_most("scrape max ms, idle", ms(idle.max_us()), IDLE_MS_MAX),
        Goal::at_least("scraped by not", cost, RATIO_MIN),
    ];
    Comparison::new("scrape", title, ["not", "scraped"], figures, goals)
}

/// The gateway's file with so many destinations. Nobody listens there, and what failed is due again in an hour.
fn listed(destinations: u64) -> String {
    (0..destinations).fold(String::new(), |mut file, n| {
        let _ = writeln!(
            file,
            "[[destinations]]\nname = \"listed {n}\"\nurl = \"http://127.0.0.1:9/{n}\"\n\
             retry_policy = {{ delays_seconds = [3600], jitter = \"none\" }}"
        );
        file
    })
}

/// Posts an event that goes to all of them, and waits until each has refused it.
async fn owe_all(api: &Api, destinations: u64, deadline: Duration) -> anyhow::Result<()> {
    api.post("/ingress", &json!({ "owed": "to all" })).await?;
    let began = Instant::now();
    loop {
        let queue: Value = api.get("/v1/queue").await?;
        let (owed, in_flight) = (&queue["data"]["total"]["pending"], &queue["data"]["slots"]["used"]);
        let due = &queue["data"]["total"]["overdue_seconds"];
        if owed.as_u64() == Some(destinations) && in_flight.as_u64() == Some(0) && due.as_f64() == Some(0.0) {
            return Ok(());
        }
        anyhow::ensure!(began.elapsed() < deadline, "{owed} are owed and {in_flight} in flight for too long");
        tokio::time::sleep(SCRAPE_INTERVAL).await;
    }
}

async fn scrape(api: &Api, into: &mut Latency) -> anyhow::Result<()> {
    let began = Instant::now();
    let status = api.status("/metrics").await?;
    anyhow::ensure!(status.is_success(), "/metrics answered {status}");
    into.record_ns(nanoseconds(began.elapsed()));
    Ok(())
}

/// Returns only when it was refused.
async fn scrape_on(api: &Api, into: &mut Latency) -> anyhow::Error {
    let mut seconds = tokio::time::interval(SCRAPE_INTERVAL);
    loop {
        seconds.tick().await;
        if let Err(error) = scrape(api, into).await {
            return error;
        }
    }
}
