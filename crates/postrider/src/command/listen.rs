//! `postrider listen`: events sent on to a program on this machine, as they come, from a gateway that cannot reach it.

use super::feed::Feed;
use super::replay::{body, passed_on};
use super::{Reading, Run, moment, shown, text, time};
use crate::client::{Client, Connection, Unreachable};
use crate::terminal::{Screen, Tone, clean, say, say_json_line};
use anyhow::Context as _;
use bytes::Bytes;
use clap::Args;
use http::Method;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use postrider_engine::verify::{Incoming, Preset};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// As for a delivery by default.
const PATIENCE: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// A gateway that is away is looked for so often.
const AWAY: Duration = Duration::from_secs(2);
const SECRET_VARIABLE: &str = "POSTRIDER_LISTEN_SECRET";

#[derive(Args)]
pub(crate) struct ListenArgs {
    /// Where to send them
    #[arg(long, value_name = "URL")]
    forward_to: String,
    /// Only those that came in at this source
    #[arg(long, value_name = "ID")]
    source: Option<String>,
    /// Only those of this type, or of such types: payment.*
    #[arg(long = "type", value_name = "PATTERN")]
    event_type: Option<String>,
    /// Sign them with this secret, whsec_… [default: POSTRIDER_LISTEN_SECRET, or as they came]
    #[arg(long)]
    secret: Option<String>,
    #[command(flatten)]
    reading: Reading,
}

impl Run for ListenArgs {
    fn run(&self) -> anyhow::Result<()> {
        let client = self.reading.client()?;
        let connection = Connection::to(&self.forward_to)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut feed = Feed::new(self.parameters());
        // What is there already is not sent; the newest page is enough to know it by.
        feed.first(&client, 200)?;
        eprintln!("what comes in from now on goes to {}; Ctrl-C ends it", clean(&self.forward_to));
        let mut waiting = VecDeque::new();
        loop {
            match self.pass_on(
                &client,
                &mut feed,
                &mut waiting,
                &Local { connection: &connection, runtime: &runtime },
            ) {
                Ok(()) => std::thread::sleep(Feed::LOOK),
                Err(error) if error.downcast_ref::<Unreachable>().is_some() => {
                    eprintln!("{error:#}; trying again");
                    std::thread::sleep(AWAY);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// The program that gets them.
struct Local<'a> {
    connection: &'a Connection,
    runtime: &'a Runtime,
}

impl ListenArgs {
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let given = [("source_id", &self.source), ("event_type", &self.event_type)];
        given.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect()
    }

    /// One leaves the line only when it was sent, so a gateway that goes away in between costs none.
    fn pass_on(
        &self,
        client: &Client,
        feed: &mut Feed,
        waiting: &mut VecDeque<Value>,
        local: &Local<'_>,
    ) -> anyhow::Result<()> {
        waiting.extend(feed.next(client)?);
        while let Some(event) = waiting.front() {
            self.forward(client, local, text(&event["id"]))?;
            waiting.pop_front();
        }
        Ok(())
    }

    /// One that is not answered is shown as such, and the next one follows.
    fn forward(&self, client: &Client, local: &Local<'_>, id: &str) -> anyhow::Result<()> {
        let Local { connection, runtime } = local;
        // A list cuts long bodies.
        let found = client.read(&format!("/v1/events/{}", super::id(id)?), &[])?;
        let event = &found["event"];
        let body = body(event)?;
        let headers = self.headers(event, &body)?;
        let request = connection.request_itself(Method::POST, headers, body)?;
        let began = Instant::now();
        let answer = runtime.block_on(async {
            connection.open(request, PATIENCE).await?.rest(ANSWER_BYTES_MAX, PATIENCE).await
        });
        let ms = began.elapsed().as_millis();
        let outcome = answer.map(|answer| answer.status.as_u16());
        if self.reading.json {
            let status = outcome.as_ref().ok();
            return say_json_line(&json!({ "event_id": id, "status": status, "latency_ms": ms }));
        }
        let (said, tone) = match &outcome {
            Ok(status) if (200..300).contains(status) => (status.to_string(), Tone::Good),
            Ok(status) => (status.to_string(), Tone::Bad),
            Err(error) => (format!("no answer: {error:#}"), Tone::Bad),
        };
        let (received, kind) = (time(&event["received_at"]), clean(&shown(&event["event_type"])));
        let said = Screen::of_stdout().tinted(&clean(&said), tone);
        say(&format!("{received}  {}  {kind}  {said}  {ms} ms\n", clean(id)))
    }

    /// As it came, or as the gateway would sign it for a destination with this secret.
    fn headers(&self, event: &Value, body: &Bytes) -> anyhow::Result<HeaderMap> {
        let mut headers = passed_on(&event["headers"]);
        let variable = std::env::var(SECRET_VARIABLE).ok().filter(|secret| !secret.is_empty());
        let Some(secret) = self.secret.clone().or(variable) else { return Ok(headers) };
        let id = HeaderValue::try_from(text(&event["id"])).context("an id fits a header")?;
        headers.insert(HeaderName::from_static("webhook-id"), id);
        let preset = Preset::by_name("standard").context("there is a preset for our own way of signing")?;
        let incoming = Incoming { method: "POST", url: "", headers: &headers, body };
        let signed = preset.sign(&secret, &incoming, moment::now());
        headers.extend(signed.map_err(|why| anyhow::anyhow!("the secret {why}"))?);
        Ok(headers)
    }
}
