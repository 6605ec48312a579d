//! `postrider events`: what came in, as a list or as it comes.

use super::{Reading, Run, items, moment, shown, text, time};
use crate::client::Client;
use crate::terminal::{Cell, Column, Screen, Table, clean, say, say_json, say_json_line};
use clap::Args;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::time::Duration;

/// As many as a gateway gives at once.
const PAGE: u32 = 200;
/// Between two looks for new events.
const LOOK: Duration = Duration::from_millis(500);
/// Events that are remembered as shown. A gateway of many nodes may list one a little behind newer ones.
const SHOWN_MAX: usize = 20_000;

const COLUMNS: [Column; 6] = [
    Column::Whole("EVENT"),
    Column::Whole("RECEIVED"),
    Column::Text("TYPE"),
    Column::Whole("STATUS"),
    Column::Whole("ATTEMPTS"),
    Column::Whole("SOURCE"),
];

#[derive(Args)]
pub(crate) struct EventsArgs {
    /// Only those that are accepted, queued, delivering, delivered, retry_scheduled or dead_letter
    #[arg(long)]
    status: Option<String>,
    /// Only those of this type, or of such types: payment.*
    #[arg(long = "type", value_name = "PATTERN")]
    event_type: Option<String>,
    /// Only those that came in at this source
    #[arg(long, value_name = "ID")]
    source: Option<String>,
    /// Only those that are owed to this destination
    #[arg(long, value_name = "ID")]
    destination: Option<String>,
    /// Only inbound (by a source) or outbound (by the API)
    #[arg(long)]
    direction: Option<String>,
    /// Only those that the sender named so
    #[arg(long, value_name = "KEY")]
    external_id: Option<String>,
    /// Only those with this text in the body
    #[arg(long)]
    text: Option<String>,
    /// Received then or later: RFC 3339, or how long ago (15m, 6h, 2d)
    #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
    since: Option<String>,
    /// Received before that
    #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
    until: Option<String>,
    /// How many, newest first
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
    /// Go on with what comes in, until Ctrl-C; with --json a line each
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
        let page = client.read("/v1/events", &self.parameters(self.limit, None))?;
        if self.reading.json {
            return say_json(&page);
        }
        say(&table(items(&page["items"])).text(Screen::of_stdout()))?;
        self.say_what_is_left(&page);
        Ok(())
    }
}

impl EventsArgs {
    fn parameters(&self, limit: u32, cursor: Option<&str>) -> Vec<(&'static str, String)> {
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
        let given = given.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
        let cursor = cursor.map(|cursor| ("cursor", cursor.to_owned()));
        given.chain([("limit", limit.to_string())]).chain(cursor).collect()
    }

    /// On the error output, so that a pipe gets the list alone.
    fn say_what_is_left(&self, page: &Value) {
        let shown = items(&page["items"]).len();
        if page["truncated"] == true {
            eprintln!("{} events were looked through; --since or --until narrow it down", page["scanned"]);
        } else if page["total"].as_u64().is_some_and(|total| total > shown as u64) {
            eprintln!("{shown} of {}; --limit shows more", page["total"]);
        }
    }

    fn follow(&self, client: &Client) -> anyhow::Result<()> {
        let mut seen = Seen::default();
        let first = client.read("/v1/events", &self.parameters(self.limit, None))?;
        let mut fresh = seen.unseen(items(&first["items"]));
        loop {
            for event in fresh.iter().rev() {
                self.say_one(event)?;
            }
            std::thread::sleep(LOOK);
            fresh = self.since_last(client, &mut seen)?;
        }
    }

    /// Page by page back to what was shown already.
    fn since_last(&self, client: &Client, seen: &mut Seen) -> anyhow::Result<Vec<Value>> {
        let (mut fresh, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let page = client.read("/v1/events", &self.parameters(PAGE, cursor.as_deref()))?;
            let listed = items(&page["items"]);
            let unseen = seen.unseen(listed);
            let is_all_new = unseen.len() == listed.len() && !listed.is_empty();
            fresh.extend(unseen);
            cursor = page["next_cursor"].as_str().map(str::to_owned);
            if !is_all_new || cursor.is_none() || fresh.len() >= SHOWN_MAX {
                return Ok(fresh);
            }
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

/// What was shown lately.
#[derive(Default)]
struct Seen {
    ids: HashSet<String>,
    order: VecDeque<String>,
}

impl Seen {
    fn unseen(&mut self, listed: &[Value]) -> Vec<Value> {
        let fresh = listed.iter().filter(|event| self.note(text(&event["id"]))).cloned().collect();
        while self.order.len() > SHOWN_MAX {
            self.order.pop_front().map(|oldest| self.ids.remove(&oldest));
        }
        fresh
    }

    fn note(&mut self, id: &str) -> bool {
        let is_new = self.ids.insert(id.to_owned());
        if is_new {
            self.order.push_back(id.to_owned());
        }
        is_new
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
