//! `postrider send`: events from the command line, one by one or a file of them.

use super::{Reading, Run, text};
use crate::client::{Answer, Client};
use crate::terminal::{Interruption, Progress, clean, counted, say, say_json};
use anyhow::{Context as _, bail, ensure};
use bytes::Bytes;
use clap::Args;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal as _, Read as _};
use std::time::{Duration, Instant};

/// As much as a gateway takes of one event, and a line with what is around it.
const EVENT_BYTES_MAX: u64 = 6 << 20;
/// Of a batch: below what a gateway takes at once (1,000 lines, 8 MiB), since one line more may follow.
const BATCH_LINES: usize = 500;
const BATCH_BYTES: usize = 2 << 20;
/// With a rate, so often a second.
const BATCHES_PER_SECOND: f64 = 10.0;
/// Refused lines that are told one by one.
const REFUSALS_SHOWN: u64 = 20;
/// For as long a gateway that has no room is asked again.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Args)]
pub(crate) struct SendArgs {
    /// File with the body, or the events with --ndjson; - reads standard input
    #[arg(value_name = "FILE", default_value = "-")]
    file: String,
    /// The body itself, instead of a file
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["file", "ndjson"])]
    data: Option<String>,
    /// Event type
    #[arg(long = "type", value_name = "TYPE", required_unless_present_any = ["ndjson", "source"])]
    event_type: Option<String>,
    /// Send to this source (ID or name) instead of through the API
    #[arg(long, value_name = "ID", conflicts_with = "ndjson")]
    source: Option<String>,
    /// Idempotency key: the same key again is the same event
    #[arg(long, value_name = "KEY", conflicts_with = "ndjson")]
    id: Option<String>,
    /// Read one event per line, as in the API: {"event_type": …, "payload": …}
    #[arg(long)]
    ndjson: bool,
    /// With --ndjson: events per second
    #[arg(long, value_name = "N", requires = "ndjson", value_parser = rate)]
    rate: Option<f64>,
    /// With --ndjson: lines to skip, to continue an earlier run
    #[arg(long, value_name = "LINES", requires = "ndjson", default_value_t = 0)]
    skip: u64,
    #[command(flatten)]
    reading: Reading,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.1..=1_000_000.0).contains(rate));
    rate.ok_or_else(|| "must be a number from 0.1 to 1000000".to_owned())
}

impl Run for SendArgs {
    fn run(&self) -> anyhow::Result<()> {
        let client = self.reading.client()?;
        if self.ndjson { self.send_lines(&client) } else { self.send_one(&client) }
    }
}

/// What became of an event that was taken.
pub(super) fn say_taken(taken: &Value) -> anyhow::Result<()> {
    let [id, status] = [&taken["id"], &taken["status"]].map(|value| clean(text(value)));
    let note = match () {
        () if taken["note"] == "duplicate" => " (already accepted)",
        () if taken["deliveries"] == 0 => {
            "; it matched no route, so nothing is sent (see postrider routes list)"
        }
        () => "",
    };
    say(&format!("{id} is {status}{note}\n"))
}

impl SendArgs {
    fn send_one(&self, client: &Client) -> anyhow::Result<()> {
        let body = match &self.data {
            Some(text) => text.clone().into_bytes(),
            None => self.body()?,
        };
        note_broken_json(&body);
        let taken = match &self.source {
            Some(source) => self.send_in(client, source, body)?,
            None => {
                let payload = String::from_utf8(body).ok();
                let payload =
                    payload.context("through the API a body must be UTF-8; --source takes any bytes")?;
                let mut event = json!({ "event_type": self.event_type, "payload": payload });
                if let Some(id) = &self.id {
                    event["external_event_id"] = id.as_str().into();
                }
                client.post("/v1/outbound-events", &event)?.data()?
            }
        };
        if self.reading.json {
            return say_json(&taken);
        }
        say_taken(&taken)
    }

    fn body(&self) -> anyhow::Result<Vec<u8>> {
        let mut body = Vec::new();
        let mut from = open(&self.file)?.take(EVENT_BYTES_MAX);
        from.read_to_end(&mut body).with_context(|| format!("cannot read {}", self.file))?;
        Ok(body)
    }

    fn send_in(&self, client: &Client, source: &str, body: Vec<u8>) -> anyhow::Result<Value> {
        let source = super::source::Door::find(client, source)?;
        let mut headers = HeaderMap::new();
        let is_json = serde_json::from_slice::<Value>(&body).is_ok();
        let kind = if is_json { "application/json" } else { "application/octet-stream" };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        for (name, value) in [("x-event-type", &self.event_type), ("idempotency-key", &self.id)] {
            if let Some(value) = value {
                let value = HeaderValue::try_from(value)
                    .with_context(|| format!("{value:?} is not valid in a header"))?;
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        source.send(client, &headers, body.into())?.data()
    }

    fn send_lines(&self, client: &Client) -> anyhow::Result<()> {
        let mut lines = Lines { from: open(&self.file)?, number: 0, bytes_max: EVENT_BYTES_MAX };
        while lines.number < self.skip && lines.next()?.is_some() {}
        let mut sent = Sent { done: lines.number, ..Sent::default() };
        let interruption = Interruption::watch()?;
        let (began, total) = (Instant::now(), lines_in(&self.file)?);
        let progress = Progress::new("lines sent");
        loop {
            let batch = lines.batch(self.batch_lines()).with_context(|| sent.go_on())?;
            if batch.last.is_none() {
                break;
            }
            self.pace(began, sent.taken + sent.refused, &interruption);
            ensure!(!interruption.is_set(), sent.go_on());
            let answers = match batch.lines.is_empty() {
                true => Value::Null,
                false => post(client, &batch.lines, &interruption).with_context(|| sent.go_on())?,
            };
            progress.above(|| sent.note(&batch, &answers));
            progress.at(sent.done, total);
        }
        drop(progress);
        let figures = json!({
            "sent": sent.taken, "duplicates": sent.duplicates, "unrouted": sent.unrouted, "refused": sent.refused
        });
        if self.reading.json {
            say_json(&figures)?;
        } else {
            let Sent { taken, duplicates, unrouted, refused, .. } = sent;
            say(&format!("{taken} sent, {duplicates} of them already accepted, {refused} refused\n"))?;
            if unrouted > 0 {
                let events = counted(unrouted, "event");
                say(&format!(
                    "{events} matched no route, so nothing is sent for them (see postrider routes list)\n"
                ))?;
            }
        }
        ensure!(sent.refused == 0, "{} refused; the others were sent", counted(sent.refused, "line"));
        Ok(())
    }

    fn batch_lines(&self) -> usize {
        self.rate
            .map_or(BATCH_LINES, |rate| (rate / BATCHES_PER_SECOND).ceil().min(BATCH_LINES as f64) as usize)
    }

    /// Waits until so many are due by the rate.
    fn pace(&self, began: Instant, done: u64, interruption: &Interruption) {
        let Some(rate) = self.rate else { return };
        let due = Duration::from_secs_f64(done as f64 / rate);
        interruption.sleep(due.saturating_sub(began.elapsed()));
    }
}

/// Any bytes are a body. What begins like JSON and is none is rarely meant as text.
fn note_broken_json(body: &[u8]) {
    let begins = body.trim_ascii_start().first().is_some_and(|first| matches!(first, b'{' | b'['));
    if let Some(error) = serde_json::from_slice::<IgnoredAny>(body).err().filter(|_| begins) {
        eprintln!("the body looks like JSON but is invalid ({error}); sending it as text");
    }
}

fn open(path: &str) -> anyhow::Result<Box<dyn BufRead>> {
    if path == "-" {
        if std::io::stdin().is_terminal() {
            eprintln!("reading from the terminal; end with Ctrl-D");
        }
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    let file = File::open(path).with_context(|| format!("cannot read {path}"))?;
    Ok(Box::new(BufReader::new(file)))
}

/// Of a file that can be read twice: what comes through a pipe ends when it ends.
fn lines_in(path: &str) -> anyhow::Result<Option<u64>> {
    let is_file = || std::fs::metadata(path).is_ok_and(|found| found.is_file());
    if path == "-" || !is_file() {
        return Ok(None);
    }
    let (mut from, mut lines, mut is_begun) = (open(path)?, 0, false);
    loop {
        let piece = from.fill_buf().with_context(|| format!("cannot read {path}"))?;
        let Some(last) = piece.last() else { return Ok(Some(lines + u64::from(is_begun))) };
        is_begun = *last != b'\n';
        lines += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
        let bytes = piece.len();
        from.consume(bytes);
    }
}

struct Lines {
    from: Box<dyn BufRead>,
    number: u64,
    bytes_max: u64,
}

struct Line {
    number: u64,
    bytes: Vec<u8>,
}

/// Lines that were read together.
#[derive(Default)]
struct Batch {
    lines: Vec<Line>,
    /// Lines that no gateway would take, by their numbers: they are passed over.
    too_long: Vec<u64>,
    /// The last that was read, whatever it was; `None` at the end.
    last: Option<u64>,
}

enum Read {
    Line(Line),
    TooLong(u64),
}

impl Lines {
    /// `None` at the end.
    fn next(&mut self) -> anyhow::Result<Option<Read>> {
        let mut bytes = Vec::new();
        let read = (&mut self.from).take(self.bytes_max).read_until(b'\n', &mut bytes);
        if read.context("cannot read the file")? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if bytes.ends_with(b"\n") || (bytes.len() as u64) < self.bytes_max {
            return Ok(Some(Read::Line(Line { number: self.number, bytes })));
        }
        self.from.skip_until(b'\n').context("cannot read the file")?;
        Ok(Some(Read::TooLong(self.number)))
    }

    fn batch(&mut self, lines_max: usize) -> anyhow::Result<Batch> {
        let (mut batch, mut bytes) = (Batch::default(), 0);
        while batch.lines.len() + batch.too_long.len() < lines_max.max(1) && bytes < BATCH_BYTES {
            let Some(read) = self.next()? else { break };
            batch.last = Some(self.number);
            match read {
                Read::TooLong(number) => batch.too_long.push(number),
                Read::Line(line) if line.bytes.trim_ascii().is_empty() => {}
                Read::Line(line) => {
                    bytes += line.bytes.len();
                    batch.lines.push(line);
                }
            }
        }
        Ok(batch)
    }
}

#[derive(Default)]
struct Sent {
    /// The last line whose end is known.
    done: u64,
    taken: u64,
    duplicates: u64,
    unrouted: u64,
    refused: u64,
}

impl Sent {
    fn note(&mut self, batch: &Batch, answers: &Value) {
        for (line, answer) in batch.lines.iter().zip(super::items(answers)) {
            if answer["id"].is_string() {
                self.taken += 1;
                self.duplicates += u64::from(answer["note"] == "duplicate");
                self.unrouted += u64::from(answer["deliveries"] == 0);
            } else {
                self.refuse(line.number, &clean(text(&answer["error"])));
            }
        }
        for number in &batch.too_long {
            self.refuse(*number, &format!("it is longer than {EVENT_BYTES_MAX} bytes."));
        }
        self.done = batch.last.unwrap_or(self.done);
    }

    fn refuse(&mut self, line: u64, why: &str) {
        self.refused += 1;
        if self.refused <= REFUSALS_SHOWN {
            eprintln!("line {line}: {why}");
        }
    }

    fn go_on(&self) -> String {
        format!("stopped after line {}; continue with --skip {}", self.done, self.done)
    }
}

/// One commit for all of them. A gateway that has no room says when to come back.
fn post(client: &Client, batch: &[Line], interruption: &Interruption) -> anyhow::Result<Value> {
    let mut body = Vec::new();
    for line in batch {
        body.extend_from_slice(line.bytes.trim_ascii());
        body.push(b'\n');
    }
    let body = Bytes::from(body);
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    let began = Instant::now();
    loop {
        let answer: Answer = client.send("/v1/events/batch", &headers, body.clone())?;
        let is_full =
            matches!(answer.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        let Some(wait) = answer.retry_after().filter(|_| is_full) else { return answer.data() };
        if began.elapsed() + wait > PATIENCE || interruption.is_set() {
            bail!("{}", answer.refusal());
        }
        interruption.sleep(wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_named() {
        let text = "one\nfar too long for this\n\ntwo\nas long at the end";
        let mut lines = Lines { from: Box::new(text.as_bytes()), number: 0, bytes_max: 8 };
        let mut batch = || {
            let Batch { lines, too_long, last } = lines.batch(3).unwrap();
            (lines.iter().map(|line| line.number).collect::<Vec<_>>(), too_long, last)
        };
        assert_eq!(batch(), (vec![1, 4], vec![2], Some(4)));
        assert_eq!(batch(), (vec![], vec![5], Some(5)));
        assert_eq!(batch(), (vec![], vec![], None));
    }
}
