//! `postrider queue`: what is owed, destination by destination, and what each waits for.

use super::{Reading, Run, items, shown, text, time};
use crate::terminal::{Cell, Column, Screen, Table, say, say_json};
use clap::Args;
use serde_json::{Value, json};

#[derive(Args)]
pub(crate) struct QueueArgs {
    /// Also those that are owed nothing
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Run for QueueArgs {
    fn run(&self) -> anyhow::Result<()> {
        let listed = self.reading.client()?.read("/v1/destinations", &[])?;
        let owed = |one: &&Value| self.all || one["pending"].as_u64().is_some_and(|pending| pending > 0);
        let mut waiting: Vec<&Value> = items(&listed).iter().filter(owed).collect();
        waiting.sort_by_key(|one| std::cmp::Reverse(one["pending"].as_u64()));
        let total: u64 = waiting.iter().filter_map(|one| one["pending"].as_u64()).sum();
        if self.reading.json {
            let fields = [
                "id",
                "name",
                "pending",
                "pending_bytes",
                "in_flight",
                "status",
                "circuit_state",
                "waiting_for",
                "waiting_until",
                "blocked_keys",
            ];
            let kept =
                |one: &&Value| fields.iter().map(|field| (*field, one[*field].clone())).collect::<Value>();
            return say_json(
                &json!({ "pending": total, "destinations": waiting.iter().map(kept).collect::<Vec<_>>() }),
            );
        }
        if waiting.is_empty() {
            return say("nothing is owed\n");
        }
        say(&table(&waiting).text(Screen::of_stdout()))?;
        say(&format!("{total} deliveries are owed\n"))
    }
}

fn table(destinations: &[&Value]) -> Table {
    let mut table = Table::new(&[
        Column::Text("DESTINATION"),
        Column::Whole("PENDING"),
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
            Cell::of(&shown(&one["in_flight"])),
            Cell::state(text(&one["circuit_state"])),
            Cell::of(&shown(&one["waiting_for"])),
            Cell::of(&time(&one["waiting_until"])),
            Cell::of(text(&one["id"])),
        ]);
    }
    table
}
