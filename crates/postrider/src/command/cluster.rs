//! `postrider cluster`: the nodes that share a store, their leases and shards, and how far behind they are.

use super::{Reading, Run, items, shown, text, time};
use crate::terminal::{Cell, Column, Screen, Table, counted, say, say_json};
use clap::Args;
use serde_json::Value;

#[derive(Args)]
pub(crate) struct ClusterArgs {
    #[command(flatten)]
    reading: Reading,
}

impl Run for ClusterArgs {
    fn run(&self) -> anyhow::Result<()> {
        let cluster = self.reading.client()?.read("/v1/cluster", &[])?;
        if self.reading.json {
            return say_json(&cluster);
        }
        say(&nodes(&cluster).text(Screen::of_stdout()))?;
        say(&sum(&cluster))
    }
}

/// What changes comes first: a narrow terminal leaves the last ones out.
fn nodes(cluster: &Value) -> Table {
    let mut table = Table::new(&[
        Column::Text("NODE"),
        Column::Whole("LEASE MS"),
        Column::Whole("SHARDS"),
        Column::Whole("IN FLIGHT"),
        Column::Whole("PENDING"),
        Column::Whole("WAIT MS"),
        Column::Whole("SINCE"),
        Column::Whole("VERSION"),
        Column::Whole("NUMBER"),
    ]);
    for node in items(&cluster["nodes"]) {
        let activity = &node["activity"];
        table.row(vec![
            Cell::of(text(&node["name"])),
            Cell::of(&shown(&node["lease_left_ms"])),
            Cell::of(&items(&node["shards"]).len().to_string()),
            Cell::of(&shown(&activity["in_flight"])),
            Cell::of(&shown(&activity["pending"])),
            Cell::of(&shown(&activity["longest_wait_ms"])),
            Cell::of(&time(&node["since"])),
            Cell::of(text(&node["version"])),
            Cell::of(&shown(&node["number"])),
        ]);
    }
    table
}

fn sum(cluster: &Value) -> String {
    let count = |field: &str, noun| counted(cluster[field].as_u64().unwrap_or_default(), noun);
    format!(
        "lag {} ms, {} pending, {}, {} unowned{}\n",
        shown(&cluster["lag_ms"]),
        count("messages_pending", "shard message"),
        count("takeovers", "takeover"),
        counted(items(&cluster["unowned_shards"]).len() as u64, "shard"),
        cluster["durability"].as_str().map_or_else(String::new, |word| format!(", durability {word}")),
    )
}
