//! Chaos: waford's own load test. Three destinations of which each answers a third of its requests with 200, fails a
//! third, and stalls for a third. Every event must be answered quickly, and every delivery must come to an end in time,
//! under the circuit and the adaptive limit that every destination has.

use super::hey;
use super::stage::Stage;
use super::{Comparison, Figure};
use crate::args::BenchArgs;
use crate::gateway::{Gateway, NewDestination};
use crate::progress::progress;
use crate::role::{LoadOrder, Receiver, run_load};
use crate::units::{float, milliseconds, number};
use crate::verdict::Goal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const DESTINATIONS: u64 = 3;
const ANSWER_P99_MS_MAX: f64 = 100.0;
const BODY_BYTES: u32 = 128;
/// waford has 1,000 workers for all of its destinations: a third of them for each.
const MAX_CONCURRENCY: u32 = 333;
/// From the first event to the end of the last delivery.
const ENDED_SECONDS_MAX: u64 = 240;
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Clone, Copy)]
struct Size {
    events: u64,
    connections: u16,
    timeout_seconds: u32,
    /// Longer than the timeout.
    sleep_ms: u32,
    /// Of the policy below.
    attempts_max: u32,
    policy: fn() -> Value,
}

const FULL: Size = Size {
    events: 5000,
    connections: 100,
    timeout_seconds: 5,
    sleep_ms: 6000,
    attempts_max: 4,
    policy: || json!({ "preset": "waford" }),
};
const QUICK: Size = Size {
    events: 50,
    connections: 10,
    timeout_seconds: 1,
    sleep_ms: 1500,
    attempts_max: 2,
    policy: || json!({ "delays_seconds": [1] }),
};

/// What the senders saw, whoever sent.
struct Answers {
    accepted: u64,
    others: u64,
    p99_ms: f64,
}

pub(super) async fn measure(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Comparison> {
    let size = args.size_of(FULL, QUICK);
    let wanted: Vec<NewDestination> = (0..DESTINATIONS).map(|n| destination(receiver, size, n)).collect();
    let (stage, url) = match &args.isolation.path {
        Some(path) => {
            let stage = Stage::with_config(args, receiver, &config_file(&wanted)).await?;
            let url = stage.gateway.url(path);
            (stage, url)
        }
        None => {
            let stage = Stage::set(args, receiver, &[]).await?;
            let url = ingest_url(&stage.gateway, &wanted).await?;
            (stage, url)
        }
    };
    progress!("chaos: {} events to {url}", size.events);
    let began = Instant::now();
    let answers = send(args, size, &url).await?;
    let deliveries = size.events * DESTINATIONS;
    // What was not accepted has no end to wait for.
    let ended = wait_for_ends(&stage, began, answers.accepted * DESTINATIONS).await?;
    let ended_s = began.elapsed().as_secs_f64();
    let ledger = stage.receiver.ledger(size.attempts_max).await?;

    let title = format!(
        "Chaos: {} events over {} connections to {DESTINATIONS} destinations that answer, fail and stall by thirds",
        number(size.events),
        size.connections
    );
    let figures = vec![
        Figure::with("answered otherwise", float(answers.others)),
        Figure::with("attempts", float(ledger.attempts)),
        Figure::with("deliveries delivered", float(ledger.delivered)),
        Figure::with("deliveries given up on", float(ledger.exhausted)),
        Figure::with("all ended after s", ended_s),
    ];
    let goals = vec![
        Goal::at_least("events answered 202", float(answers.accepted), float(size.events)).in_every_round(),
        Goal::at_most("answer p99 ms", answers.p99_ms, ANSWER_P99_MS_MAX),
        Goal::at_least("deliveries ended, by the receiver", float(ledger.ended()), float(deliveries))
            .in_every_round(),
        Goal::at_least("deliveries ended within 240 s", float(ended), float(deliveries)).in_every_round(),
    ];
    Ok(Comparison::new("chaos", title, ["", "with"], figures, goals))
}

fn destination(receiver: &Receiver, size: Size, n: u64) -> NewDestination {
    NewDestination {
        max_concurrency: MAX_CONCURRENCY,
        timeout_seconds: size.timeout_seconds,
        retry_policy: Some((size.policy)()),
        ..NewDestination::to(&format!("chaos {n}"), &receiver.url(&format!("/chaos/{}/{n}", size.sleep_ms)))
    }
}

async fn ingest_url(gateway: &Gateway, wanted: &[NewDestination]) -> anyhow::Result<String> {
    let source = gateway.account().source("chaos").await?;
    for destination in wanted {
        gateway.account().fan_out(&source, destination).await?;
    }
    Ok(gateway.url(&format!("/ingest/{}", source.path_token())))
}

/// The destinations as the gateway's config file lists them. JSON's strings, numbers and switches are TOML's too.
fn config_file(wanted: &[NewDestination]) -> String {
    let tables =
        wanted.iter().map(|destination| format!("[[destinations]]\n{}", toml_fields(&destination.body())));
    tables.collect::<Vec<_>>().join("\n")
}

fn toml_fields(object: &Value) -> String {
    let fields = object.as_object().into_iter().flatten();
    let mut lines: Vec<String> =
        fields.map(|(name, value)| format!("{name} = {}\n", toml_value(value))).collect();
    // An object's own order depends on how the JSON library was built.
    lines.sort();
    lines.concat()
}

fn toml_value(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name} = {}", toml_value(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

async fn send(args: &BenchArgs, size: Size, url: &str) -> anyhow::Result<Answers> {
    if args.isolation.hey {
        let report = hey::run(args, size.events, size.connections, url).await?;
        let p99_ms = report.p99_seconds * 1000.0;
        return Ok(Answers { accepted: report.accepted, others: report.others, p99_ms });
    }
    let order = LoadOrder {
        connections: Some(size.connections),
        size_bytes: Some(BODY_BYTES),
        ..LoadOrder::at_once(size.events)
    };
    let load = run_load(args, &order, &[url.to_owned()]).await?;
    let p99_ms = milliseconds(load.p99_us);
    Ok(Answers { accepted: load.accepted, others: load.refused + load.failed, p99_ms })
}

/// How many have ended, by the gateway. Where not all came to an end in time, the goal says so; the other figures stand
/// all the same.
async fn wait_for_ends(stage: &Stage<'_>, began: Instant, deliveries: u64) -> anyhow::Result<u64> {
    let account = stage.gateway.account();
    loop {
        let ended = account.deliveries_with(&["delivered", "dead_letter"]).await?;
        if ended >= deliveries || began.elapsed().as_secs() >= ENDED_SECONDS_MAX {
            return Ok(ended);
        }
        progress!("  {ended} of {deliveries} deliveries ended");
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_config_file_says_what_the_api_would_be_told() {
        let wanted = NewDestination {
            retry_policy: Some(json!({ "preset": "waford" })),
            ..NewDestination::to("a \"b\"", "http://127.0.0.1:1/a")
        };
        let expected = concat!(
            "[[destinations]]\n",
            "max_concurrency = 64\n",
            "name = \"a \\\"b\\\"\"\n",
            "retry_policy = { preset = \"waford\" }\n",
            "timeout_seconds = 10\n",
            "url = \"http://127.0.0.1:1/a\"\n",
        );
        assert_eq!(config_file(&[wanted]), expected);
    }
}
