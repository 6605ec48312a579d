//! `postrider queue`: what is owed, destination by destination, for how long, and what each waits for.

use super::{Reading, Run, items, shown, text, time, waits_for};
use crate::terminal::{Cell, Column, Screen, Table, say, say_json};
use clap::Args;
use serde_json::Value;

#[derive(Args)]
pub(crate) struct QueueArgs {
    /// Maximum number of destinations, largest backlog first
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
    #[command(flatten)]
    reading: Reading,
}

impl Run for QueueArgs {
    fn run(&self) -> anyhow::Result<()> {
        let queue = self.reading.client()?.read("/v1/queue", &[("limit", self.limit.to_string())])?;
        if self.reading.json {
            return say_json(&queue);
        }
        let listed = items(&queue["items"]);
        if listed.is_empty() {
            return say("nothing is pending\n");
        }
        say(&table(listed).text(Screen::of_stdout()))?;
        let total = &queue["total"];
        let by_priority: Vec<String> =
            items(&queue["by_priority"]).iter().map(|one| shown(&one["pending"])).collect();
        say(&format!(
            "{} pending, the oldest for {}; by priority {}\n",
            total["pending"],
            age(&total["oldest_seconds"]),
            by_priority.join(", ")
        ))
    }
}

fn age(seconds: &Value) -> String {
    format!("{:.0} s", seconds.as_f64().unwrap_or_default())
}

fn table(destinations: &[Value]) -> Table {
    let mut table = Table::new(&[
        Column::Text("DESTINATION"),
        Column::Whole("PENDING"),
        Column::Whole("OLDEST"),
        Column::Whole("IN FLIGHT"),
        Column::Whole("CIRCUIT"),
        Column::Whole("WAITS FOR"),
        Column::Whole("UNTIL"),
        Column::Whole("ID"),
    ]);
    for one in destinations {
        table.row(vec![
            Cell::of(text(&one["name"])),
            Cell::of(&shown(&one["pending"])),
            Cell::of(&age(&one["oldest_seconds"])),
            Cell::of(&shown(&one["in_flight"])),
            Cell::state(text(&one["circuit_state"])),
            Cell::of(&waits_for(one)),
            Cell::of(&time(&one["waiting_until"])),
            Cell::of(text(&one["destination_id"])),
        ]);
    }
    table
}
