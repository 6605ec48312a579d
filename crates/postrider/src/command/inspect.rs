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
    /// Event (evt_…) or delivery (dlv_…)
    #[arg(value_name = "ID")]
    id: String,
    /// Include request and response headers
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

/// The event with its last attempts; by the id of a delivery, that of the delivery with the attempts of it alone.
pub(super) fn find(client: &Client, of: &str) -> anyhow::Result<Value> {
    let of = id(of)?;
    if !of.starts_with("dlv_") {
        return client.read(&format!("/v1/events/{of}"), &[]);
    }
    let mut own = client.read(&format!("/v1/deliveries/{of}"), &[])?;
    let event = id(text(&own["delivery"]["event_id"]))?;
    let mut found = client.read(&format!("/v1/events/{event}"), &[])?;
    found["attempts"] = own["attempts"].take();
    if let Some(deliveries) = found["event"]["deliveries"].as_array_mut() {
        deliveries.retain(|delivery| delivery["id"] == of);
    }
    Ok(found)
}
