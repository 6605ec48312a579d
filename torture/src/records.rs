//! What the gateway says became of deliveries: all dead letters, what was on its way at a fault, and some others.

use crate::api::Api;
use crate::history::{End, Record};
use crate::producer::Entry;
use crate::stage::Stage;
use crate::watch::hash_of;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Looks at so many events that nobody asked for, beside those with dead letters.
pub const SAMPLE: usize = 400;
/// Of what was on its way at faults, so much is looked at: a minute or two of looking. The faults of five minutes leave
/// some fifty to each, and there are no more in flight at once.
pub const STRUCK_MAX: usize = 5_000;

/// All dead letters, these events, and a sample of the accepted, evenly over the run.
pub fn records(stage: &Stage, entries: &[Entry], also: &BTreeSet<u64>) -> anyhow::Result<Vec<Record>> {
    let mut records = Vec::new();
    for api in &stage.apis {
        let dead = dead_letters(stage, api)?;
        let accepted: Vec<&str> = of_account(stage, api, entries);
        let apart = (accepted.len() / (SAMPLE / stage.apis.len())).max(1);
        let asked = accepted.iter().filter(|id| also.contains(&hash_of(id.as_bytes()))).copied();
        let chosen = accepted.iter().step_by(apart).copied().chain(asked).map(str::to_owned);
        let events: BTreeSet<String> = chosen.chain(dead.iter().map(|(event, _)| event.clone())).collect();
        let known: BTreeSet<(u64, usize)> =
            dead.iter().map(|(event, destination)| (hash_of(event.as_bytes()), *destination)).collect();
        for event in &events {
            let shown = api.call("GET", &format!("/v1/events/{event}"), &json!({}))?;
            records.extend(of_event(stage, event, &shown));
        }
        anyhow::ensure!(known.len() == dead.len(), "a delivery is among the dead letters twice");
        let shown = |(event, destination): &(u64, usize)| {
            let is_it = |record: &&Record| (record.event, record.destination) == (*event, *destination);
            records.iter().find(is_it).is_some_and(|record| record.end == End::DeadLetter)
        };
        anyhow::ensure!(known.iter().all(shown), "a dead letter is not shown as one by its event");
    }
    Ok(records)
}

/// The events that an account's producers were told the ids of.
fn of_account<'e>(stage: &Stage, api: &Api, entries: &'e [Entry]) -> Vec<&'e str> {
    let is_first = std::ptr::eq(api, &stage.apis[0]);
    let of_it = entries.iter().filter(|entry| stage.is_of_first(entry.posted.kind) == is_first);
    of_it.filter_map(|entry| entry.id.as_deref()).collect()
}

/// Events and destinations of all dead letters of an account.
fn dead_letters(stage: &Stage, api: &Api) -> anyhow::Result<Vec<(String, usize)>> {
    let mut found = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = api.call("GET", &format!("/v1/dead-letters?limit=200{cursor}"), &json!({}))?;
        for letter in page["items"].as_array().into_iter().flatten() {
            let destination = stage.index_of(text(&letter["destination_id"]));
            found.extend(destination.map(|index| (text(&letter["event_id"]).to_owned(), index)));
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(found),
        }
    }
}

fn of_event(stage: &Stage, event: &str, shown: &Value) -> Vec<Record> {
    let deliveries = shown["event"]["deliveries"].as_array().into_iter().flatten();
    let record = |delivery: &Value| {
        let attempts = shown["attempts"].as_array().into_iter().flatten();
        let attempts: Vec<&Value> =
            attempts.filter(|attempt| attempt["delivery_id"] == delivery["id"]).collect();
        let number = |attempt: &&Value| attempt["attempt_number"].as_u64().unwrap_or(0) as u32;
        Some(Record {
            event: hash_of(event.as_bytes()),
            destination: stage.index_of(text(&delivery["destination_id"]))?,
            end: match text(&delivery["status"]) {
                "delivered" => End::Delivered,
                "dead_letter" => End::DeadLetter,
                _ => End::Pending,
            },
            attempts: attempts.iter().map(number).collect(),
            timed_out: attempts
                .iter()
                .filter(|attempt| attempt["outcome"] == "timeout")
                .map(number)
                .collect(),
            answered: attempts.iter().filter(|attempt| attempt["response_status"].is_number()).count(),
            heard: attempts
                .iter()
                .filter_map(|attempt| text(&attempt["response_body"]).parse().ok())
                .collect(),
            successes: attempts.iter().filter(|attempt| attempt["outcome"] == "success").count(),
            reason: delivery["reason"].as_str().map(str::to_owned),
        })
    };
    deliveries.filter_map(record).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
