//! `postrider inspect`: one event or delivery with every attempt.

use super::objects::names_in;
use super::readable::{self, Detail};
use super::{Reading, Run, id, items, text};
use crate::client::Client;
use crate::terminal::{Screen, say, say_json};
use clap::Args;
use serde_json::Value;

#[derive(Args)]
pub(crate) struct InspectArgs {
    /// An event, evt_…, or a delivery, dlv_…
    #[arg(value_name = "ID")]
    id: String,
    /// With the headers that were sent and answered
    #[arg(long)]
    headers: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Run for InspectArgs {
    fn run(&self) -> anyhow::Result<()> {
        let client = self.reading.client()?;
        let mut found = find(&client, &self.id)?;
        if self.reading.json {
            return say_json(&found);
        }
        let owed = found["event"]["deliveries"].take();
        found["event"]["deliveries"] = names_in(&client, owed);
        let (screen, event) = (Screen::of_stdout(), &found["event"]);
        let detail = if self.headers { Detail::Headers } else { Detail::Outcome };
        say(&readable::event(event, screen))?;
        say(&readable::deliveries(event, items(&found["attempts"]), detail, screen))
    }
}

/// The event with its attempts; by the id of a delivery, that of the delivery.
pub(super) fn find(client: &Client, of: &str) -> anyhow::Result<Value> {
    let mut of = id(of)?.to_owned();
    if of.starts_with("dlv_") {
        let delivery = client.read(&format!("/v1/deliveries/{of}"), &[])?;
        of = id(text(&delivery["delivery"]["event_id"]))?.to_owned();
    }
    client.read(&format!("/v1/events/{of}"), &[])
}
