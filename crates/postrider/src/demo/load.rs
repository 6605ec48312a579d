//! A steady load: so many events a second, through the API, until it is told to stop.

use super::site::TYPES;
use crate::client::Client;
use anyhow::Context as _;
use bytes::Bytes;
use http::HeaderMap;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// At the usual rate each event goes by itself, so that one hiccup of the machine is one slow event and not ten.
const TICK: Duration = Duration::from_millis(20);

/// When each accepted event was about to be sent.
pub(super) type Sent = HashMap<String, Instant>;

#[derive(Default)]
struct Shared {
    accepted: AtomicU64,
    refused: AtomicU64,
    stopping: AtomicBool,
}

pub(super) struct Load {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Sent>>,
}

impl Load {
    pub(super) fn start(client: Client, rate: u32) -> anyhow::Result<Load> {
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("load".to_owned()).spawn(move || run(&client, rate, &own));
        Ok(Load { shared, thread: Some(thread.context("start the load")?) })
    }

    pub(super) fn accepted(&self) -> u64 {
        self.shared.accepted.load(Ordering::Relaxed)
    }

    pub(super) fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }

    pub(super) fn stop(&mut self) -> anyhow::Result<Sent> {
        self.shared.stopping.store(true, Ordering::Relaxed);
        let thread = self.thread.take().context("the load is stopped once")?;
        thread.join().map_err(|_| anyhow::anyhow!("the load broke"))
    }
}

fn run(client: &Client, rate: u32, shared: &Shared) -> Sent {
    let (mut sent, began, mut number) = (Sent::new(), Instant::now(), 0_u64);
    while !shared.stopping.load(Ordering::Relaxed) {
        // By the time and not by the tick: where a call takes longer than one, the next makes up for it.
        let tick = Instant::now();
        let due = (f64::from(rate) * tick.duration_since(began).as_secs_f64()) as u64;
        let batch: String = (number..due).map(line).collect();
        if !batch.is_empty() {
            send(client, batch, shared, &mut sent);
        }
        number = due;
        std::thread::sleep(TICK.saturating_sub(tick.elapsed()));
    }
    sent
}

fn line(number: u64) -> String {
    let kind = TYPES[usize::try_from(number % 4).unwrap_or_default()];
    format!("{}\n", json!({ "event_type": kind, "payload": { "number": number, "customer": number % 100 } }))
}

fn send(client: &Client, batch: String, shared: &Shared, sent: &mut Sent) {
    let (at, lines) = (Instant::now(), batch.lines().count() as u64);
    let answer = client.send("/v1/events/batch", &HeaderMap::new(), Bytes::from(batch));
    let Ok(answers) = answer.and_then(crate::client::Answer::data) else {
        shared.refused.fetch_add(lines, Ordering::Relaxed);
        return;
    };
    let ids = answers.as_array().into_iter().flatten().filter_map(|one| one["id"].as_str());
    let before = sent.len() as u64;
    sent.extend(ids.map(|id| (id.to_owned(), at)));
    let accepted = sent.len() as u64 - before;
    shared.accepted.fetch_add(accepted, Ordering::Relaxed);
    shared.refused.fetch_add(lines - accepted, Ordering::Relaxed);
}
