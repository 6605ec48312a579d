//! `postrider listen`: events sent on to a program on this machine, as they come, from a gateway that cannot reach it.
//! The gateway's stream says at once what has come. A look at its list when a stream begins, when it could not tell all,
//! and every few seconds finds what the stream did not say: what came while it was away, and what other nodes accepted.

mod forward;
mod watch;

use self::forward::{Local, Outcome};
use self::watch::{Told, watch};
use super::feed::Feed;
use super::objects::ids_in;
use super::presence::Presence;
use super::{Reading, Run, beginning, items, shown, text, time};
use crate::client::{Client, is_missing};
use crate::terminal::{Screen, Tone, clean, say, say_json_line};
use anyhow::bail;
use clap::Args;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// Between two looks while the stream is silent.
const LOOK: Duration = Duration::from_secs(5);
/// Of an account with many sources the others are in its list.
const URLS_SHOWN: usize = 3;
const SECRET_VARIABLE: &str = "POSTRIDER_LISTEN_SECRET";

#[derive(Args)]
pub(crate) struct ListenArgs {
    /// URL to forward to
    #[arg(long, value_name = "URL")]
    forward_to: String,
    /// Only from this source (ID or name)
    #[arg(long, value_name = "ID")]
    source: Option<String>,
    /// Only of this type or pattern, such as payment.*
    #[arg(long = "type", value_name = "PATTERN")]
    event_type: Option<String>,
    /// Sign with this secret, whsec_… [default: POSTRIDER_LISTEN_SECRET, or the original signature]
    #[arg(long)]
    secret: Option<String>,
    #[command(flatten)]
    reading: Reading,
}

impl Run for ListenArgs {
    fn run(&self) -> anyhow::Result<()> {
        let client = self.reading.client()?;
        let variable = std::env::var(SECRET_VARIABLE).ok().filter(|secret| !secret.is_empty());
        let local = Local::new(&self.forward_to, self.secret.clone().or(variable))?;
        let parameters = self.parameters(&client)?;
        let mut feed = Feed::new(parameters.clone());
        // What is there already is not sent.
        feed.first(&client, 200)?;
        let streamed = [("kind", "accepted".to_owned())].into_iter().chain(parameters.clone()).collect();
        let told = watch(self.reading.client()?, streamed)?;
        let comes_in = self.comes_in(&client, &parameters);
        eprintln!("forwarding new events{comes_in} to {}; stop with Ctrl-C", clean(&self.forward_to));
        let mut line = Line { client, feed, waiting: VecDeque::new() };
        let mut presence = Presence::default();
        loop {
            let done = match told.recv_timeout(LOOK) {
                // After a look that broke off the list has what is older, and this one too.
                Ok(Told::Accepted(id)) if !line.feed.is_behind() => {
                    line.heard_of(id);
                    self.pass_on(&mut line, &local)
                }
                Ok(Told::Open | Told::Lagged | Told::Accepted(_)) | Err(RecvTimeoutError::Timeout) => {
                    self.look(&mut line, &local)
                }
                Ok(Told::Away(error)) => {
                    presence.miss(&error);
                    continue;
                }
                Ok(Told::Refused(error)) => return Err(error),
                Err(RecvTimeoutError::Disconnected) => bail!("the stream has ended"),
            };
            presence.settle(done)?;
        }
    }
}

/// What is to be sent on, in the order in which it came.
struct Line {
    client: Client,
    feed: Feed,
    waiting: VecDeque<String>,
}

impl Line {
    fn heard_of(&mut self, id: String) {
        if self.feed.is_new(&id) {
            self.waiting.push_back(id);
        }
    }
}

impl ListenArgs {
    fn parameters(&self, client: &Client) -> anyhow::Result<Vec<(&'static str, String)>> {
        let given = [("source_id", &self.source), ("event_type", &self.event_type)];
        ids_in(client, given.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect())
    }

    /// Where to post what is to be seen here, as far as the key may know it. It is said for convenience: what cannot be read
    /// is left out, and listening goes on.
    fn comes_in(&self, client: &Client, parameters: &[(&str, String)]) -> String {
        let named = parameters.iter().find(|(name, _)| *name == "source_id").map(|(_, id)| id);
        let listed = client.read("/v1/sources", &[]).unwrap_or_default();
        let is_open = |source: &&Value| match named {
            Some(id) => source["id"] == id.as_str(),
            None => source["status"] == "active",
        };
        let open = items(&listed).iter().filter(is_open).map(|source| clean(text(&source["ingest_url"])));
        let urls: Vec<String> = open.filter(|url| !url.is_empty()).take(URLS_SHOWN).collect();
        if urls.is_empty() { String::new() } else { format!(" from {}", urls.join(" or ")) }
    }

    fn look(&self, line: &mut Line, local: &Local) -> anyhow::Result<()> {
        let Line { client, feed, waiting } = line;
        self.pass_on_from(client, waiting, local)?;
        feed.look(client, |fresh| {
            waiting.extend(fresh.iter().map(|event| text(&event["id"]).to_owned()));
            self.pass_on_from(client, waiting, local)
        })
    }

    fn pass_on(&self, line: &mut Line, local: &Local) -> anyhow::Result<()> {
        self.pass_on_from(&line.client, &mut line.waiting, local)
    }

    /// One leaves the line only when it was sent, so a gateway that goes away in between costs none.
    fn pass_on_from(
        &self,
        client: &Client,
        waiting: &mut VecDeque<String>,
        local: &Local,
    ) -> anyhow::Result<()> {
        while let Some(id) = waiting.front() {
            // Neither the stream nor a list has the whole body.
            match client.read(&format!("/v1/events/{}", super::id(id)?), &[]) {
                Ok(found) => self.show(&found["event"], &local.forward(&found["event"])?)?,
                Err(error) if is_missing(&error) => eprintln!("{} is no longer kept", clean(id)),
                Err(error) => return Err(error),
            }
            waiting.pop_front();
        }
        Ok(())
    }

    fn show(&self, event: &Value, outcome: &Outcome) -> anyhow::Result<()> {
        let (id, ms) = (text(&event["id"]), outcome.latency_ms);
        if self.reading.json {
            let status = outcome.answer.as_ref().ok().map(|(status, _)| status);
            return say_json_line(&json!({ "event_id": id, "status": status, "latency_ms": ms }));
        }
        let (said, tone) = match &outcome.answer {
            Ok((status, _)) if (200..300).contains(status) => (status.to_string(), Tone::Good),
            Ok((status, answer)) => (format!("{status} {}", beginning(answer)), Tone::Bad),
            Err(error) => (format!("no response: {error:#}"), Tone::Bad),
        };
        let (received, kind) = (time(&event["received_at"]), clean(&shown(&event["event_type"])));
        let said = Screen::of_stdout().tinted(clean(&said).trim_end(), tone);
        say(&format!("{received}  {}  {kind}  {said}  {ms} ms\n", clean(id)))
    }
}
