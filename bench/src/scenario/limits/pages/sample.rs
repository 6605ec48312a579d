//! A few events of every kind that history has, lived by the gateway itself: most go to several destinations and are
//! delivered, a few to one that refuses them and are given up on.

use crate::api::Api;
use crate::args::BenchArgs;
use crate::gateway::{Gateway, NewDestination, Source};
use crate::role::Receiver;
use anyhow::Context as _;
use serde_json::json;
use std::time::{Duration, Instant};

const ORDERS: u64 = 495;
const INVOICES: u64 = 5;
/// That each order goes to.
const DESTINATIONS: u32 = 8;
/// Of the orders, in turn.
const TYPES: [&str; 10] = {
    let [created, paid, gone] = ["order.created", "order.paid", "order.cancelled"];
    [created, created, paid, created, created, paid, created, created, paid, gone]
};
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// Posts them, and waits until all are over.
pub(super) async fn live(args: &BenchArgs, gateway: &Gateway, receiver: &Receiver) -> anyhow::Result<()> {
    let account = gateway.account();
    let [orders, invoices] = [account.typed_source("orders").await?, account.typed_source("invoices").await?];
    for n in 1..=DESTINATIONS {
        let wanted = NewDestination::to(&format!("shop {n}"), &receiver.url(&format!("/shop/{n}")));
        account.fan_out(&orders, &wanted).await?;
    }
    let refusing = NewDestination {
        retry_policy: Some(json!({ "max_attempts": 1 })),
        ..NewDestination::to("ledger", &receiver.url("/status/422/ledger"))
    };
    account.fan_out(&invoices, &refusing).await?;
    let api = Api::new(gateway.address(), None)?;
    for n in 0..INVOICES {
        post(&api, &invoices, "invoice.failed", n).await?;
    }
    for n in 0..ORDERS {
        let kind = TYPES[usize::try_from(n)? % TYPES.len()];
        post(&api, &orders, kind, n).await?;
    }
    let began = Instant::now();
    loop {
        let over = account.events_with("delivered").await? + account.events_with("dead_letter").await?;
        if over == ORDERS + INVOICES {
            return Ok(());
        }
        anyhow::ensure!(began.elapsed() < args.deadline(), "only {over} of the sample's events are over");
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}

async fn post(api: &Api, source: &Source, kind: &str, n: u64) -> anyhow::Result<()> {
    let body = json!({ "type": kind, "number": n, "amount": n * 100, "currency": "EUR", "customer": "Ada Lovelace" });
    let path = format!("/ingest/{}", source.path_token());
    api.post(&path, &body).await.map(drop).context("post an event of the sample")
}
