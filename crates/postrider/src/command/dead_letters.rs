//! `postrider dlq`: what was given up on, sending it again, and letting it go.

use super::discard;
use super::objects::ids_in;
use super::readable::{self, Detail};
use super::replay_job::{self, Job};
use super::{Agreement, Reading, Run, id, items, moment, shown, text, time};
use crate::client::Client;
use crate::terminal::{
    Cell, Column, Progress, Screen, Table, clean, counted, json as json_text, say, say_json,
};
use anyhow::ensure;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};
use std::io::IsTerminal as _;

const NO_SUCH: &str = "dead letter not found";

#[derive(Args)]
pub(crate) struct DeadLetterArgs {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Subcommand)]
enum Verb {
    /// List dead letters, newest first.
    #[command(after_help = "Example:\n  postrider dlq list --destination billing --since 1d")]
    List {
        #[command(flatten)]
        filter: Filter,
        /// How many
        #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
    },
    /// Show a dead letter, its event and every attempt.
    #[command(after_help = "Example:\n  postrider dlq show dlv_01hz3k8q2v4xw --headers")]
    Show {
        /// dlv_…
        #[arg(value_name = "ID")]
        id: String,
        /// Include request and response headers
        #[arg(long)]
        headers: bool,
    },
    /// Replay one dead letter, or all that match as a background job.
    #[command(
        after_help = "Examples:\n  postrider dlq replay dlv_01hz3k8q2v4xw\n  postrider dlq replay --destination dst_01hz3k8q2v4xw --rate 50\n  postrider dlq replay --all --dry-run\n  postrider dlq replay --job rpl_01hz3k8q2v4xw      # watch one that runs"
    )]
    Replay {
        #[command(flatten)]
        which: Which,
        /// Maximum per second
        #[arg(long, value_name = "N", conflicts_with = "id")]
        rate: Option<f64>,
        /// Print the count without sending anything
        #[arg(long)]
        dry_run: bool,
        /// Return at once; the job continues in the gateway
        #[arg(long, conflicts_with = "id")]
        detach: bool,
        /// Watch a job that was started earlier
        #[arg(long, value_name = "ID", conflicts_with_all = ["id", "all", "Filter", "rate", "dry_run", "detach"])]
        job: Option<String>,
    },
    /// Discard dead letters; they can no longer be replayed.
    #[command(
        after_help = "Examples:\n  postrider dlq discard dlv_01hz3k8q2v4xw\n  postrider dlq discard --reason expired --yes"
    )]
    Discard {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        agreement: Agreement,
    },
    /// Write dead letters to standard output as JSON Lines.
    #[command(after_help = "Example:\n  postrider dlq export --since 7d > dead-letters.ndjson")]
    Export {
        #[command(flatten)]
        filter: Filter,
        /// waford's format, or every field
        #[arg(long, value_enum, default_value = "waford")]
        format: Format,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Waford,
    Full,
}

#[derive(Args)]
struct Filter {
    /// For this destination (ID or name)
    #[arg(long, value_name = "ID")]
    destination: Option<String>,
    /// Of events from this source (ID or name)
    #[arg(long, value_name = "ID")]
    source: Option<String>,
    /// Of events of this type or pattern, such as payment.**
    #[arg(long = "type", value_name = "PATTERN")]
    event_type: Option<String>,
    /// With this reason: attempts, age, final_answer, disabled, destination_deleted, transform_failed, expired, crash_loop
    #[arg(long)]
    reason: Option<String>,
    /// Dead-lettered since: RFC 3339, or an age (15m, 6h, 2d)
    #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
    since: Option<String>,
    /// Dead-lettered before
    #[arg(long, value_name = "WHEN", value_parser = moment::parse)]
    until: Option<String>,
}

#[derive(Args)]
struct Which {
    /// Dead letter, dlv_…
    #[arg(value_name = "ID", conflicts_with_all = ["all", "Filter"])]
    id: Option<String>,
    #[command(flatten)]
    filter: Filter,
    /// All dead letters of the account, if no filter is given
    #[arg(long)]
    all: bool,
}

impl Filter {
    fn parameters(&self, client: &Client) -> anyhow::Result<Vec<(&'static str, String)>> {
        let given = [
            ("destination_id", &self.destination),
            ("source_id", &self.source),
            ("event_type", &self.event_type),
            ("reason", &self.reason),
            ("since", &self.since),
            ("until", &self.until),
        ];
        ids_in(client, given.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect())
    }

    fn json(&self, client: &Client) -> anyhow::Result<Value> {
        let fields =
            self.parameters(client)?.into_iter().map(|(name, value)| (name.to_owned(), value.into()));
        Ok(Value::Object(fields.collect::<Map<_, _>>()))
    }
}

impl Which {
    /// The one that is named, or all that match.
    fn filter(&self, client: &Client) -> anyhow::Result<Value> {
        match &self.id {
            Some(one) => Ok(json!({ "delivery_ids": [id(one)?] })),
            None => self.checked(client),
        }
    }

    /// The filter, if it says something or everything is meant.
    fn checked(&self, client: &Client) -> anyhow::Result<Value> {
        let filter = self.filter.json(client)?;
        let is_empty = filter.as_object().is_none_or(Map::is_empty);
        ensure!(!is_empty || self.all, "give an ID, a filter such as --destination, or --all");
        ensure!(is_empty || !self.all, "--all cannot be combined with a filter");
        Ok(filter)
    }
}

impl Run for DeadLetterArgs {
    fn run(&self) -> anyhow::Result<()> {
        let client = self.reading.client()?;
        match &self.verb {
            Verb::List { filter, limit } => self.list(&client, filter, *limit),
            Verb::Show { id, headers } => {
                let detail = if *headers { Detail::Headers } else { Detail::Outcome };
                self.show(&client, id, detail)
            }
            Verb::Replay { job: Some(job), .. } => {
                replay_job::watch(&client, &Job::known(job)?, &self.reading)
            }
            Verb::Replay { which, dry_run: true, .. } => self.count(&client, which),
            Verb::Replay { which: Which { id: Some(one), .. }, .. } => self.replay_one(&client, one),
            Verb::Replay { which, rate, detach, .. } => {
                let mut wanted = json!({ "filter": which.filter(&client)? });
                if let Some(rate) = rate {
                    wanted["rate_per_second"] = (*rate).into();
                }
                let job = replay_job::begin(&client, &wanted)?;
                if *detach { job.say(&self.reading) } else { replay_job::watch(&client, &job, &self.reading) }
            }
            Verb::Discard { which, agreement } => self.discard(&client, which, agreement),
            Verb::Export { filter, format } => export(&client, filter, *format),
        }
    }
}

impl DeadLetterArgs {
    fn list(&self, client: &Client, filter: &Filter, limit: u32) -> anyhow::Result<()> {
        let mut parameters = filter.parameters(client)?;
        parameters.push(("limit", limit.to_string()));
        let page = client.read("/v1/dead-letters", &parameters)?;
        if self.reading.json {
            return say_json(&page);
        }
        let (listed, has_older) = (items(&page["items"]), page["next_cursor"].is_string());
        if !listed.is_empty() {
            say(&table(listed).text(Screen::of_stdout()))?;
        }
        match (listed.is_empty(), has_older) {
            (true, true) => {
                eprintln!("no match among the newest dead letters; use --until to search older ones");
            }
            (true, false) => eprintln!("no dead letters match"),
            (false, true) => eprintln!("more dead letters match; use --limit or --until to see them"),
            (false, false) => {}
        }
        Ok(())
    }

    fn show(&self, client: &Client, of: &str, detail: Detail) -> anyhow::Result<()> {
        let letter = client.read(&format!("/v1/dead-letters/{}", id(of)?), &[])?;
        if self.reading.json {
            return say_json(&letter);
        }
        let screen = Screen::of_stdout();
        let to = letter["destination_name"].as_str().unwrap_or("a deleted destination");
        let url = letter["destination_url"].as_str().unwrap_or("-");
        let attempts: String = items(&letter["attempts"])
            .iter()
            .map(|attempt| readable::attempt(attempt, detail, screen))
            .collect();
        say(&format!(
            "dead letter {} to {} ({})\n  reason      {}\n  died        {}\n{attempts}",
            clean(text(&letter["delivery_id"])),
            clean(to),
            clean(url),
            clean(text(&letter["reason"])),
            clean(&time(&letter["died_at"])),
        ))?;
        say(&readable::event(&letter["event"], screen))
    }

    /// How many would be sent again; none of them is.
    fn count(&self, client: &Client, which: &Which) -> anyhow::Result<()> {
        let wanted = json!({ "filter": which.filter(client)?, "dry_run": true });
        let found = client.post("/v1/replays", &wanted)?.data()?;
        ensure!(which.id.is_none() || found["total"] != 0, NO_SUCH);
        if self.reading.json {
            return say_json(&found);
        }
        say(&format!("{} would be replayed\n", letters(&found)))
    }

    fn replay_one(&self, client: &Client, of: &str) -> anyhow::Result<()> {
        let of = id(of)?;
        let owed = client.post(&format!("/v1/dead-letters/{of}/replay"), &json!({}))?.data()?;
        if self.reading.json {
            return say_json(&owed);
        }
        say(&format!("{of} is queued again; follow it with `postrider inspect {of}`\n"))
    }

    fn discard(&self, client: &Client, which: &Which, agreement: &Agreement) -> anyhow::Result<()> {
        let filter = which.filter(client)?;
        agreement.asked(|| {
            let dry = client.post("/v1/replays", &json!({ "filter": filter, "dry_run": true }))?.data()?;
            Ok(format!("Discard {} for good", letters(&dry)))
        })?;
        let discarded = discard::discard(client, || self.reading.client(), &filter)?;
        if self.reading.json {
            return say_json(&discarded);
        }
        ensure!(which.id.is_none() || discarded["discarded"] != 0, NO_SUCH);
        say(&format!("{} discarded\n", discarded["discarded"]))
    }
}

/// How many a dry run has found.
fn letters(dry: &Value) -> String {
    counted(dry["total"].as_u64().unwrap_or_default(), "dead letter")
}

/// Line by line as they come: however many there are, they are never all in memory.
fn export(client: &Client, filter: &Filter, format: Format) -> anyhow::Result<()> {
    let mut parameters = filter.parameters(client)?;
    let word = if matches!(format, Format::Full) { "full" } else { "waford" };
    parameters.push(("format", word.to_owned()));
    // On a terminal the lines themselves are seen to come.
    let progress = (!std::io::stdout().is_terminal()).then(|| Progress::new("exported"));
    let (mut lines, mut pending) = (0, Vec::new());
    client.stream("/v1/dead-letters/export", &parameters, |piece| {
        lines += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
        progress.iter().for_each(|progress| progress.at(lines, None));
        pending.extend_from_slice(piece);
        let whole = pending.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let rest = pending.split_off(whole);
        // A payload stands there as it came; escaped, it is the same JSON.
        let said = say(&json_text(&String::from_utf8_lossy(&pending)));
        pending = rest;
        said
    })
}

fn table(letters: &[Value]) -> Table {
    let mut table = Table::new(&[
        Column::Whole("DELIVERY"),
        Column::Whole("DIED"),
        Column::Text("TYPE"),
        Column::Text("DESTINATION"),
        Column::Text("REASON"),
        Column::Text("LAST ERROR"),
    ]);
    for letter in letters {
        table.row(vec![
            Cell::of(text(&letter["delivery_id"])),
            Cell::of(&time(&letter["died_at"])),
            Cell::of(&shown(&letter["event_type"])),
            Cell::of(letter["destination_name"].as_str().unwrap_or(text(&letter["destination_id"]))),
            Cell::of(text(&letter["reason"])),
            Cell::of(&shown(&letter["last_error"])),
        ]);
    }
    table
}
