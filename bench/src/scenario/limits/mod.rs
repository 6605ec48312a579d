//! Limits: how near the gateway comes to servers that do less, how long its events take when the
//! machine has room, what it costs to be watched and scraped, and how long pages take on much history.

mod half_load;
mod ingest;
mod nginx;
mod pages;
mod scrape;
mod watched;

use super::ScenarioName;
use super::comparison::{Comparison, Figure};
use super::run::Run;
use crate::args::BenchArgs;
use crate::role::Receiver;
use crate::units::{milliseconds, number};
use crate::verdict::{Goal, ratio};

/// `None` for a scenario that is not about limits.
pub(crate) async fn measure(
    name: ScenarioName,
    args: &BenchArgs,
    receiver: &Receiver,
) -> anyhow::Result<Option<Comparison>> {
    // Few where only the way is tried.
    let args = &BenchArgs { events: args.size_of(args.events, args.events.min(1000)), ..args.clone() };
    match name {
        ScenarioName::Ingest => ingest::measure(args).await.map(Some),
        ScenarioName::Nginx => nginx::measure(args, receiver).await.map(Some),
        ScenarioName::HalfLoad => half_load::measure(args, receiver).await.map(Some),
        ScenarioName::Watched => watched::measure(args, receiver).await.map(Some),
        ScenarioName::Pages => pages::measure(args, receiver).await.map(Some),
        ScenarioName::Scrape => scrape::measure(args, receiver).await.map(Some),
        _ => Ok(None),
    }
}

/// The same load through one and then another, and how much of the first one's rate the other is promised to reach.
fn compared(
    args: &BenchArgs,
    (scenario, columns): (&'static str, [&'static str; 2]),
    [one, other]: [&Run; 2],
    (promise, ratio_min): (&'static str, f64),
) -> Comparison {
    let ms = milliseconds;
    let figures = vec![
        Figure::both("delivered per s", one.delivered_per_s, other.delivered_per_s),
        Figure::both("receipt p50 ms", ms(one.receipt_p50_us), ms(other.receipt_p50_us)),
        Figure::both("receipt p99 ms", ms(one.receipt_p99_us), ms(other.receipt_p99_us)),
    ];
    let title = format!(
        "{scenario}: {} events of {} bytes, {} connections, {} destinations",
        number(args.events),
        number(args.size.into()),
        args.connections,
        args.destinations
    );
    let reached = ratio(other.delivered_per_s, one.delivered_per_s);
    Comparison::new(scenario, title, columns, figures, vec![Goal::at_least(promise, reached, ratio_min)])
}
