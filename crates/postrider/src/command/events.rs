//! `postrider events`: what came in, as a list or as it comes.

use super::feed::Feed;
use super::objects::ids_in;
use super::presence::Presence;
use super::{Reading, Run, items, moment, shown, text, time};
use crate::client::Client;
use crate::terminal::{Cell, Column, Screen, Table, clean, counted, say, say_json, say_json_line};
use clap::Args;
use serde_json::Value;

const COLUMNS: [Column; 6] = [
    Column::Whole("EVENT"),
    Column::Whole("RECEIVED"),
    Column::Text("TYPE"),
    Column::Whole("STATUS"),
    Column::Whole("ATTEMPTS"),
    Column::Whole("SOURCE"),
];

const NONE_FITS: &str = "no events match; `postrider events` lists all, newest first";
const NONE_YET: &str = "no events yet; send one with `postrider send --type hello.world --data '{}'`";

#[derive(Args)]
pub(crate) struct EventsArgs {
    /// Only with this status: accepted, queued, delivering, delivered, retry_scheduled or dead_letter
    #[arg(long)]
    status: Option<String>,
    /// Only of this type or pattern, such as payment.*
    #[arg(long = "type", value_name = "PATTERN")]
    event_type: Option<String>,
    /// Only from this source (ID or name)
    #[arg(long, value_name = "ID")]
    source: Option<String>,
    /// Only for this destination (ID or name)
    #[arg(long, value_name = "ID")]
    destination: Option<String>,
    /// Only inbound (from a source) or outbound (from the API)
    #[arg(long)]
    direction: Option<String>,
    /// Only with this ID from the sender
    #[arg(long, value_name = "KEY")]
    external_id: Option<String>,
    /// Only with this text in the body
    #[arg(long)]
    text: Option<String>,
    /// Received since: RFC 3339, or an age (15m, 6h, 2d)
    #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
    since: Option<String>,
    /// Received before
    #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
    until: Option<String>,
    /// Maximum number, newest first
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
    /// Follow new events until Ctrl-C; with --json one per line
    #[arg(long, conflicts_with = "until")]
    tail: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Run for EventsArgs {
    fn run(&self) -> anyhow::Result<()> {
        let client = self.reading.client()?;
        if self.tail {
            return self.follow(&client);
        }
        let mut parameters = self.filters(&client)?;
        let is_filtered = !parameters.is_empty();
        parameters.push(("limit", self.limit.to_string()));
        let page = client.read("/v1/events", &parameters)?;
        if self.reading.json {
            return say_json(&page);
        }
        let listed = items(&page["items"]);
        if listed.is_empty() {
            eprintln!("{}", if is_filtered { NONE_FITS } else { NONE_YET });
        } else {
            say(&table(listed).text(Screen::of_stdout()))?;
        }
        self.say_what_is_left(&page);
        Ok(())
    }
}

impl EventsArgs {
    fn filters(&self, client: &Client) -> anyhow::Result<Vec<(&'static str, String)>> {
        let given = [
            ("status", &self.status),
            ("event_type", &self.event_type),
            ("source_id", &self.source),
            ("destination_id", &self.destination),
            ("direction", &self.direction),
            ("external_event_id", &self.external_id),
            ("text", &self.text),
            ("since", &self.since),
            ("until", &self.until),
        ];
        ids_in(client, given.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect())
    }

    /// On the error output, so that a pipe gets the list alone.
    fn say_what_is_left(&self, page: &Value) {
        let shown = items(&page["items"]).len();
        if page["truncated"] == true {
            let scanned = counted(page["scanned"].as_u64().unwrap_or_default(), "event");
            eprintln!("{scanned} searched; narrow it down with --since or --until");
        } else if page["total"].as_u64().is_some_and(|total| total > shown as u64) {
            eprintln!("{shown} of {}; use --limit to see more", page["total"]);
        }
    }

    fn follow(&self, client: &Client) -> anyhow::Result<()> {
        let (mut feed, mut presence) = (Feed::new(self.filters(client)?), Presence::default());
        let say = |events: Vec<Value>| events.iter().try_for_each(|event| self.say_one(event));
        say(feed.first(client, self.limit)?)?;
        loop {
            std::thread::sleep(Feed::LOOK);
            presence.settle(feed.look(client, say))?;
        }
    }

    /// What is of one width everywhere comes first, so that lines stand below each other.
    fn say_one(&self, event: &Value) -> anyhow::Result<()> {
        if self.reading.json {
            return say_json_line(event);
        }
        let [received, id] = [time(&event["received_at"]), clean(text(&event["id"]))];
        say(&format!("{received}  {id}  {}\n", clean(&shown(&event["event_type"]))))
    }
}

fn table(events: &[Value]) -> Table {
    let mut table = Table::new(&COLUMNS);
    for event in events {
        table.row(vec![
            Cell::of(text(&event["id"])),
            Cell::of(&time(&event["received_at"])),
            Cell::of(&shown(&event["event_type"])),
            Cell::state(text(&event["status"])),
            Cell::of(&shown(&event["attempts_count"])),
            Cell::of(&shown(&event["source_id"])),
        ]);
    }
    table
}
