//! Herd: a destination fails ten thousand events and recovers. What it is owed must come back spread over time, and
//! never more of it at once than the destination takes.

use super::stage::Stage;
use super::{Comparison, Figure};
use crate::args::BenchArgs;
use crate::gateway::{Guards, NewDestination};
use crate::progress::progress;
use crate::receiver::Question;
use crate::role::{LoadOrder, Receiver, run_load};
use crate::scenario::run::all_accepted;
use crate::units::{float, number};
use crate::verdict::{Goal, ratio};
use serde_json::json;
use std::collections::BTreeMap;

const MAX_CONCURRENCY: u32 = 50;
/// 50 at a time of 5 ms each are up to 10,000 a second: the destination itself does not spread the herd.
const HERD_PATH: &str = "/failing/5/herd";
/// How many times its even share of the retry's wait one second may get.
const EVEN_SHARES_MAX: f64 = 3.0;
/// For what fails more than once before the outage ends: enough never to give up.
const MAX_ATTEMPTS: u32 = 20;

struct Size {
    events: u64,
    retry_seconds: u32,
}

const FULL: Size = Size { events: 10_000, retry_seconds: 30 };
const QUICK: Size = Size { events: 200, retry_seconds: 2 };

pub(super) async fn measure(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Comparison> {
    let Size { events, retry_seconds } = args.size_of(FULL, QUICK);
    let stage = Stage::set(args, receiver, &[]).await?;
    let wanted = NewDestination {
        max_concurrency: MAX_CONCURRENCY,
        retry_policy: Some(
            json!({ "delays_seconds": [retry_seconds], "max_attempts": MAX_ATTEMPTS, "jitter": "full" }),
        ),
        guards: Guards::Off,
        ..NewDestination::to("herd", &receiver.url(HERD_PATH))
    };
    let wire = stage.gateway.account().wire(&wanted).await?;
    progress!("herd: {events} events into an outage");
    receiver.begin_outage().await?;
    let load = run_load(args, &LoadOrder::at_once(events), &[stage.gateway.ingest_url(&wire)]).await?;
    all_accepted(&load, events)?;
    let question = Question::under(HERD_PATH);
    let outage = receiver.wait_for_requests(&question, events, stage.deadline()).await?;
    // What the outage let through is not part of the herd.
    receiver.reset().await?;
    receiver.end_outage().await?;
    let herd = events - outage.all.unique;
    progress!("herd: the outage is over; {herd} events are to come back");
    let back = receiver.wait_for_all_of(&question, herd, stage.deadline()).await?;

    let busiest = busiest_second(&back.per_second);
    let share = ratio(float(busiest), float(herd));
    let share_max = (EVEN_SHARES_MAX / f64::from(retry_seconds)).min(1.0);
    let in_flight_max = float(back.in_flight_max.max(outage.in_flight_max));
    let title = format!(
        "Herd: {} events fail, the destination recovers; retries anywhere within {retry_seconds} s, {MAX_CONCURRENCY} at a time",
        number(events)
    );
    let figures = vec![
        Figure::both("requests answered 500", float(outage.all.rejected), float(back.all.rejected)),
        Figure::both("received", float(outage.all.unique), float(back.all.unique)),
        Figure::with("seconds with arrivals", float(back.per_second.len().try_into()?)),
        Figure::with("arrivals in the busiest second", float(busiest)),
        Figure::with("even share of a second", float(herd) / f64::from(retry_seconds)),
    ];
    let goals = vec![
        Goal::at_most("in flight at the receiver", in_flight_max, f64::from(MAX_CONCURRENCY))
            .in_every_round(),
        Goal::at_most("share of the busiest second", share, share_max),
        Goal::at_least("events that came back", float(back.all.unique), float(herd)).in_every_round(),
    ];
    Ok(Comparison::new("herd", title, ["outage", "after"], figures, goals))
}

fn busiest_second(per_second: &BTreeMap<u64, u64>) -> u64 {
    per_second.values().copied().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_second_is_the_one_with_the_most_arrivals() {
        assert_eq!(busiest_second(&BTreeMap::from([(1, 3), (2, 9), (7, 4)])), 9);
        assert_eq!(busiest_second(&BTreeMap::new()), 0);
    }
}
