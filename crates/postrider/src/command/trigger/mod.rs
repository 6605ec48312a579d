//! `postrider trigger`: a sample event as a provider would send it, signature included.

mod samples;

use self::samples::{Filling, SAMPLES, Sample};
use super::replay::headers_json;
use super::send::say_taken;
use super::source::Door;
use super::{Reading, Run, beginning, moment};
use crate::client::{Client, Connection, Message};
use crate::terminal::{
    Cell, Column, Screen, Table, clean, clean_lines, counted, say, say_json, say_json_line,
};
use anyhow::{Context as _, bail, ensure};
use bytes::Bytes;
use clap::Args;
use http::Method;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use postrider_core::event::EventType;
use postrider_engine::verify::{Incoming, Preset};
use serde_json::{Value, json};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// What the secret is read from, since a command line can be read by everyone on the machine.
const SECRET_VARIABLE: &str = "POSTRIDER_TRIGGER_SECRET";
/// What is sent to a source of no provider when nothing else is said.
const PLAIN: &str = "standard";

#[derive(Args)]
pub(crate) struct TriggerArgs {
    /// stripe, github, shopify, slack, … [default: the source's]; without one, all samples are listed
    #[arg(value_name = "PROVIDER")]
    provider: Option<String>,
    /// Event name of the provider [default: its most common one]
    #[arg(value_name = "EVENT")]
    event: Option<String>,
    /// Send to this source (ID or name)
    #[arg(long, value_name = "ID", conflicts_with = "to")]
    source: Option<String>,
    /// Send to this URL
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    /// Sign with this secret [default: POSTRIDER_TRIGGER_SECRET, or no signature]
    #[arg(long)]
    secret: Option<String>,
    /// Number of events, each with its own ID
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// Print the request without sending it
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    reading: Reading,
}

/// An event as it goes out.
struct Request {
    headers: HeaderMap,
    body: Bytes,
}

impl Run for TriggerArgs {
    fn run(&self) -> anyhow::Result<()> {
        let door = self.source.as_ref().map(|source| self.door(source)).transpose()?;
        let Some(provider) = self.provider_of(door.as_ref())? else { return self.list() };
        let sample = Sample::find(&provider, self.event.as_deref()).map_err(anyhow::Error::msg)?;
        let variable = std::env::var(SECRET_VARIABLE).ok().filter(|secret| !secret.is_empty());
        let secret = self.secret.clone().or(variable);
        if self.dry_run {
            let url = self.to.clone().unwrap_or_default();
            return self.say_request(request(sample, &url, secret.as_deref())?);
        }
        match (&door, &self.to) {
            (Some((client, door)), _) => self.send_in(client, door, sample, secret.as_deref()),
            (None, Some(url)) => self.send_to(url, sample, secret.as_deref()),
            (None, None) => bail!("choose a target: --source NAME or --to URL"),
        }
    }
}

impl TriggerArgs {
    fn door(&self, source: &str) -> anyhow::Result<(Client, Door)> {
        let client = self.reading.client()?;
        let door = Door::find(&client, source)?;
        Ok((client, door))
    }

    /// Whose sample it is: what was said, else the provider of the source. `None` where samples are to be listed.
    fn provider_of(&self, door: Option<&(Client, Door)>) -> anyhow::Result<Option<String>> {
        match (&self.provider, door) {
            (Some(provider), _) => Ok(Some(provider.clone())),
            (None, Some((_, door))) => Ok(Some(door.provider.clone().unwrap_or_else(|| PLAIN.to_owned()))),
            (None, None) => {
                let names_target = self.to.is_some() || self.secret.is_some() || self.dry_run;
                ensure!(
                    !names_target,
                    "choose a sample, such as `postrider trigger stripe`; `postrider trigger` lists all"
                );
                Ok(None)
            }
        }
    }

    fn list(&self) -> anyhow::Result<()> {
        if self.reading.json {
            let all = SAMPLES.iter().map(|one| json!({ "provider": one.provider, "event": one.event }));
            return say_json(&all.collect::<Value>());
        }
        let mut table = Table::new(&[Column::Whole("PROVIDER"), Column::Text("EVENT")]);
        SAMPLES.iter().for_each(|one| table.row(vec![Cell::of(one.provider), Cell::of(one.event)]));
        say(&table.text(Screen::of_stdout()))
    }

    fn send_in(
        &self,
        client: &Client,
        door: &Door,
        sample: &Sample,
        secret: Option<&str>,
    ) -> anyhow::Result<()> {
        if let Some(provider) = &door.provider {
            let is_of_it = provider.eq_ignore_ascii_case(sample.provider);
            ensure!(is_of_it, "the source is one of {}; choose another with --source", clean(provider));
        }
        for _ in 0..self.count {
            let Request { mut headers, body } = request(sample, &door.url, secret)?;
            if door.provider.is_none() {
                name_type(&mut headers, sample);
            }
            let answer = door.send(client, &headers, body)?;
            if answer.status == http::StatusCode::UNAUTHORIZED {
                bail!(
                    "{} ({SECRET_VARIABLE} or --secret must be the secret of the source)",
                    answer.refusal()
                );
            }
            let taken = answer.data()?;
            if self.reading.json {
                say_json_line(&taken)?;
            } else {
                say_taken(&taken)?;
            }
        }
        Ok(())
    }

    fn send_to(&self, url: &str, sample: &Sample, secret: Option<&str>) -> anyhow::Result<()> {
        let connection = Connection::to(url)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut refused = 0;
        for _ in 0..self.count {
            let Request { headers, body } = request(sample, url, secret)?;
            let request = connection.request_itself(Method::POST, headers, body)?;
            let answer = runtime.block_on(async {
                connection.open(request, PATIENCE).await?.rest(ANSWER_BYTES_MAX, PATIENCE).await
            });
            let answer =
                answer.with_context(|| format!("{} did not respond", clean(&connection.authority())))?;
            self.say_answer(&answer)?;
            refused += u64::from(!answer.status.is_success());
        }
        let (of, authority) = (counted(self.count.into(), "event"), clean(&connection.authority()));
        ensure!(refused == 0, "{authority} did not respond 2xx to {refused} of {of}");
        Ok(())
    }

    /// What a program says to a refusal is why one tries it.
    fn say_answer(&self, answer: &Message) -> anyhow::Result<()> {
        let (status, text) = (answer.status.as_u16(), String::from_utf8_lossy(&answer.body));
        if self.reading.json {
            return say_json_line(&json!({ "status": status, "body": text }));
        }
        let text = if answer.status.is_success() { String::new() } else { beginning(&text) };
        say(&format!("{}\n", clean(format!("{status} {text}").trim_end())))
    }

    /// The signature is shown too: it is of this request alone. A token is not.
    fn say_request(&self, mut request: Request) -> anyhow::Result<()> {
        if let Some(token) = request.headers.get_mut("x-gitlab-token") {
            *token = HeaderValue::from_static("[redacted]");
        }
        let body = String::from_utf8_lossy(&request.body);
        if self.reading.json {
            return say_json(&json!({ "headers": headers_json(&request.headers), "body": body }));
        }
        for (name, value) in &request.headers {
            say(&format!("{name}: {}\n", clean(&String::from_utf8_lossy(value.as_bytes()))))?;
        }
        say(&format!("\n{}\n", clean_lines(&body)))
    }
}

/// A source of no provider does not know where the type of an event stands, and routes go by types.
fn name_type(headers: &mut HeaderMap, sample: &Sample) {
    let is_type = EventType::parse(sample.event).is_ok();
    if let Some(value) = HeaderValue::try_from(sample.event).ok().filter(|_| is_type) {
        headers.insert(HeaderName::from_static("x-event-type"), value);
    }
}

fn request(sample: &Sample, url: &str, secret: Option<&str>) -> anyhow::Result<Request> {
    let now = moment::now();
    let id = format!("{:016x}", getrandom::u64().context("ask the system for an id")?);
    let filling = Filling { id, unix_ms: now.unix_ms(), time: now.to_string() };
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(sample.content_type()));
    for (name, value) in sample.headers {
        let value = HeaderValue::try_from(filling.fill(value)).context("a header of the sample")?;
        headers.insert(HeaderName::from_static(name), value);
    }
    let body = Bytes::from(filling.fill(sample.body));
    if let Some(secret) = secret {
        let preset = Preset::by_name(sample.provider).context("every sample is of a preset")?;
        let incoming = Incoming { method: "POST", url, headers: &headers, body: &body };
        let signed = preset.sign(secret, &incoming, now);
        let signed = signed.map_err(|why| anyhow::anyhow!("an event of {} {why}", sample.provider))?;
        headers.extend(signed);
    }
    Ok(Request { headers, body })
}
