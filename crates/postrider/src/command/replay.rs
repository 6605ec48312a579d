//! `postrider replay`: an event again, for the routes of today or to one URL, or a dead letter to where it was owed.

use super::inspect::find;
use super::objects::names_in;
use super::{Reading, Run, id, items, readable, shown, text};
use crate::client::{Client, Connection};
use crate::terminal::{Cell, Column, Screen, Table, clean, counted, say, say_json};
use anyhow::{Context as _, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use clap::Args;
use http::Method;
use http::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// As a destination has it by default, and a debugger in between takes its time.
const PATIENCE: Duration = Duration::from_secs(60);
/// More of an answer than anyone reads.
const ANSWER_BYTES_MAX: usize = 1 << 20;

#[derive(Args)]
pub(crate) struct ReplayArgs {
    /// Event (evt_…), sent by its current routes; or dead letter (dlv_…), sent to its destination
    #[arg(value_name = "ID")]
    id: String,
    /// Send the original event from this machine to this URL; nothing is stored
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    /// Show what would be sent, without sending it
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Run for ReplayArgs {
    fn run(&self) -> anyhow::Result<()> {
        let client = self.reading.client()?;
        match &self.to {
            Some(url) => self.send_to(&client, url),
            None if self.dry_run && self.is_dead_letter() => self.try_letter(&client),
            None if self.dry_run => self.try_out(&client),
            None => self.replay(&client),
        }
    }
}

impl ReplayArgs {
    fn is_dead_letter(&self) -> bool {
        self.id.starts_with("dlv_")
    }

    fn replay(&self, client: &Client) -> anyhow::Result<()> {
        let of = id(&self.id)?;
        let is_dead_letter = self.is_dead_letter();
        let list = if is_dead_letter { "dead-letters" } else { "events" };
        let replayed = client.post(&format!("/v1/{list}/{of}/replay"), &json!({}))?.data()?;
        if self.reading.json {
            return say_json(&replayed);
        }
        let status = clean(text(&replayed["status"]));
        if is_dead_letter {
            return say(&format!("{of} is {status}; follow it with `postrider inspect {of}`\n"));
        }
        let new = clean(text(&replayed["replay_event_id"]));
        let note = if status == "accepted" { "; it matches no route" } else { "" };
        say(&format!("{new} is {status}{note}; follow it with `postrider inspect {new}`\n"))
    }

    /// It goes where it was owed, whatever routes say today.
    fn try_letter(&self, client: &Client) -> anyhow::Result<()> {
        let of = id(&self.id)?;
        let letter = client.read(&format!("/v1/dead-letters/{of}"), &[])?;
        let url = letter["destination_url"].as_str();
        let url =
            url.context("its destination was deleted; replay its event with `postrider replay evt_…`")?;
        if self.reading.json {
            let fields = ["delivery_id", "event_id", "destination_id", "destination_name", "destination_url"];
            let told = fields.map(|field| (field.to_owned(), letter[field].clone()));
            let dry_run = ("dry_run".to_owned(), Value::Bool(true));
            return say_json(&Value::Object(told.into_iter().chain([dry_run]).collect()));
        }
        let to = clean(text(&letter["destination_name"]));
        say(&format!("{of} would be replayed to {to} ({})\n", clean(url)))
    }

    /// By the routes as they are now.
    fn try_out(&self, client: &Client) -> anyhow::Result<()> {
        let found = find(client, &self.id)?;
        let event = &found["event"];
        let mut sample = json!({
            "headers": event["headers"], "payload": event["body"], "payload_encoding": event["body_encoding"],
        });
        for field in ["source_id", "event_type"] {
            if event[field].is_string() {
                sample[field] = event[field].clone();
            }
        }
        let judged = client.post("/v1/routes/test", &sample)?.data()?;
        if self.reading.json {
            return say_json(&judged);
        }
        let routes = names_in(client, judged["routes"].clone());
        say(&judgements(items(&routes)).text(Screen::of_stdout()))
    }

    fn send_to(&self, client: &Client, url: &str) -> anyhow::Result<()> {
        let found = find(client, &self.id)?;
        let event = &found["event"];
        let (body, headers) = (body(event)?, passed_on(&event["headers"]));
        let connection = Connection::to(url)?;
        if self.dry_run {
            return self.say_what_would_go(url, &headers, body.len());
        }
        let began = Instant::now();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let request = connection.request_itself(Method::POST, headers, body)?;
        let answer = runtime.block_on(async {
            connection.open(request, PATIENCE).await?.rest(ANSWER_BYTES_MAX, PATIENCE).await
        });
        let answer = answer.with_context(|| format!("{} did not respond", clean(&connection.authority())))?;
        let (ms, text) = (began.elapsed().as_millis(), String::from_utf8_lossy(&answer.body));
        let status = answer.status.as_u16();
        if self.reading.json {
            say_json(&json!({ "status": status, "latency_ms": ms, "body": text }))?;
        } else {
            say(&format!("{status} after {ms} ms\n{}", readable::answer(text.trim_end(), "")))?;
        }
        // Said like every refusal, and by the exit code.
        ensure!(answer.status.is_success(), "{} responded {status}", clean(&connection.authority()));
        Ok(())
    }
}

impl ReplayArgs {
    fn say_what_would_go(&self, url: &str, headers: &HeaderMap, body_bytes: usize) -> anyhow::Result<()> {
        if self.reading.json {
            let headers = headers_json(headers);
            return say_json(
                &json!({ "dry_run": true, "url": url, "headers": headers, "body_bytes": body_bytes }),
            );
        }
        let (bytes, headers) = (counted(body_bytes as u64, "byte"), counted(headers.len() as u64, "header"));
        say(&format!("{bytes} with {headers} would be sent to {}\n", clean(url)))
    }
}

pub(super) fn headers_json(headers: &HeaderMap) -> Value {
    let shown = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    Value::Object(headers.iter().map(|(name, value)| (name.to_string(), shown(value).into())).collect())
}

fn judgements(routes: &[Value]) -> Table {
    let mut table = Table::new(&[
        Column::Whole("ROUTE"),
        Column::Text("DESTINATION"),
        Column::Whole("TAKES IT"),
        Column::Text("URL, OR WHY NOT"),
    ]);
    for route in routes {
        let takes = route["matches"] == true;
        let why = [&route["request"]["url"], &route["error"], &route["reason"]];
        let why = why.into_iter().find(|value| value.is_string()).unwrap_or(&Value::Null);
        table.row(vec![
            Cell::of(&shown(&route["route_id"])),
            Cell::of(text(&route["destination_id"])),
            Cell::of(if takes { "yes" } else { "no" }),
            Cell::of(&shown(why)),
        ]);
    }
    table
}

pub(super) fn body(event: &Value) -> anyhow::Result<Bytes> {
    let body = text(&event["body"]);
    if event["body_encoding"] == "base64" {
        return Ok(STANDARD.decode(body).context("the gateway sent an invalid response body")?.into());
    }
    Ok(Bytes::copy_from_slice(body.as_bytes()))
}

/// The event's own, less those that speak of the connection they came by.
pub(super) fn passed_on(headers: &Value) -> HeaderMap {
    let mut kept = HeaderMap::new();
    for (name, value) in headers.as_object().into_iter().flatten() {
        let named = HeaderName::try_from(name.as_str()).ok();
        let valued = value.as_str().and_then(|value| HeaderValue::try_from(value).ok());
        if let Some((name, value)) = named.zip(valued) {
            kept.insert(name, value);
        }
    }
    for name in [HOST, CONTENT_LENGTH, TRANSFER_ENCODING, http::header::CONNECTION] {
        kept.remove(name);
    }
    kept
}
