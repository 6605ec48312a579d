//! The commands of every day. Each speaks to a running gateway by its API.

mod assignment;
mod backup;
mod cluster;
mod completions;
mod dead_letters;
mod discard;
mod events;
mod feed;
mod inspect;
mod listen;
mod moment;
mod objects;
mod presence;
mod queue;
mod readable;
mod replay;
mod replay_job;
mod send;
mod source;
mod top;
mod trigger;
mod unfinished;
mod verify;

pub(crate) use self::backup::{BackupArgs, RestoreArgs};
pub(crate) use self::cluster::ClusterArgs;
pub(crate) use self::completions::{CompletionArgs, ManArgs};
pub(crate) use self::dead_letters::DeadLetterArgs;
pub(crate) use self::events::EventsArgs;
pub(crate) use self::inspect::InspectArgs;
pub(crate) use self::listen::ListenArgs;
pub(crate) use self::objects::{AccountArgs, DestinationArgs, KeyArgs, RouteArgs, SourceArgs};
pub(crate) use self::queue::QueueArgs;
pub(crate) use self::replay::ReplayArgs;
pub(crate) use self::send::SendArgs;
pub(crate) use self::top::{Frame, Order, TopArgs, draw};
pub(crate) use self::trigger::TriggerArgs;
pub(crate) use self::verify::VerifyArgs;

use crate::client::{Client, GatewayArgs};
use crate::terminal::confirm;
use anyhow::bail;
use clap::Args;
use serde_json::Value;

/// Of the text that a program sent with a refusal.
const ANSWER_CHARACTERS_MAX: usize = 100;

/// What every reading command takes.
#[derive(Args)]
pub(crate) struct Reading {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    gateway: GatewayArgs,
}

impl Reading {
    fn client(&self) -> anyhow::Result<Client> {
        self.gateway.client()
    }
}

/// Whether something that cannot be taken back was agreed to.
#[derive(Args)]
pub(crate) struct Agreement {
    /// Skip the confirmation
    #[arg(long)]
    yes: bool,
}

impl Agreement {
    /// Asks, unless there is nothing to ask any more.
    fn asked(&self, question: impl FnOnce() -> anyhow::Result<String>) -> anyhow::Result<()> {
        if self.yes { Ok(()) } else { confirm(&question()?) }
    }
}

/// A command that does what its arguments say.
pub(crate) trait Run {
    fn run(&self) -> anyhow::Result<()>;
}

/// An id goes into the path of a call, so it must be nothing but one.
fn id(text: &str) -> anyhow::Result<&str> {
    let is_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if text.is_empty() || !text.bytes().all(is_id) {
        bail!("{text:?} is not an ID; IDs look like evt_01hz3k8q2v4xw");
    }
    Ok(text)
}

/// A field for a cell: text as it is, anything else as JSON, a dash for nothing.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// What the next attempt of a destination waits for, in a list: a dash for nothing.
pub(crate) fn waits_for(destination: &Value) -> String {
    let word = &destination["waiting_for"];
    shown(if word == "nothing_pending" { &Value::Null } else { word })
}

/// What a program says to a refusal is why one sends it events; a page of it is not.
fn beginning(answer: &str) -> String {
    answer.chars().take(ANSWER_CHARACTERS_MAX).collect()
}

/// To the second and without the `T`: what a person reads in a list.
fn time(value: &Value) -> String {
    let Some(text) = value.as_str() else { return "-".to_owned() };
    text.get(..19).map_or_else(|| text.to_owned(), |second| second.replacen('T', " ", 1))
}

pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_that_waits_for_nothing_has_a_dash_however_that_is_said() {
        let check = |destination, expected| assert_eq!(waits_for(&destination), expected);
        check(json!({}), "-");
        check(json!({ "waiting_for": "nothing_pending" }), "-");
        check(json!({ "waiting_for": "rate_limit" }), "rate_limit");
    }
}
