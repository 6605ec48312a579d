//! Carries a plan out, step by step, and stops where the gateway is not as the plan saw it.

use super::difference::same;
use super::gateway::existing;
use super::kind::Kind;
use super::object::{Declared, Existing};
use super::plan::{Plan, Step};
use super::request;
use crate::client::{Answer, Client};
use crate::terminal::Interruption;
use anyhow::{Context as _, anyhow, bail, ensure};
use http::{HeaderValue, StatusCode};
use serde_json::Value;

/// What was made that is shown this once and never again.
pub(super) struct Made {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// `key` or `signing_secret`.
    pub(super) what: &'static str,
    pub(super) text: String,
}

/// How far it came.
pub(super) struct Applied {
    pub(super) done: usize,
    pub(super) made: Vec<Made>,
    /// Why it stopped before the end.
    pub(super) stopped: Option<anyhow::Error>,
}

/// Makes the changes one after the other, until the first that fails or somebody interrupts. What is shown this once is
/// told as soon as it is there: whatever comes after it, it is not lost.
pub(super) fn apply(
    client: &Client,
    plan: &Plan,
    mut known: Vec<Existing>,
    interruption: &Interruption,
    tell: impl Fn(&Made) -> anyhow::Result<()>,
) -> Applied {
    let mut applied = Applied { done: 0, made: Vec::new(), stopped: None };
    for step in &plan.steps {
        if interruption.is_set() {
            applied.stopped = Some(anyhow!("it was interrupted"));
            break;
        }
        let before = applied.made.len();
        let carried = match step {
            Step::Create { declared, .. } => create(client, declared, &mut known, &mut applied.made),
            Step::Change { declared, existing, differences } => {
                let body = request::change(declared, existing, differences, &known);
                body.and_then(|body| change(client, existing, &known, &body))
            }
            Step::Delete { existing } => delete(client, existing, &known),
        };
        let told = applied.made[before..].iter().try_for_each(&tell);
        if let Err(error) = carried.and(told) {
            applied.stopped = Some(error);
            break;
        }
        applied.done += 1;
    }
    applied
}

fn create(
    client: &Client,
    declared: &Declared,
    known: &mut Vec<Existing>,
    made: &mut Vec<Made>,
) -> anyhow::Result<()> {
    let body = request::new(declared, known)?;
    let answer = client.post(declared.kind.path(), &body)?;
    let tag = answer.tag.clone();
    let Value::Object(shown) = answer.data()? else { bail!("the gateway's response is not an object") };
    let what = match declared.kind {
        Kind::ApiKey => Some("key"),
        Kind::Destination if !declared.fields.contains_key("signing_secret") => Some("signing_secret"),
        _ => None,
    };
    let shown_once = what.and_then(|what| Some((what, shown.get(what)?.as_str()?.to_owned())));
    made.extend(shown_once.map(|(what, text)| Made {
        kind: declared.kind,
        name: declared.name.clone(),
        what,
        text,
    }));
    let object = existing(declared.kind, shown, known);
    if let Some(body) = request::after_new(declared) {
        client.patch(&path(&object), tag.as_ref(), &body)?.data()?;
    }
    known.push(object);
    Ok(())
}

fn change(client: &Client, planned: &Existing, known: &[Existing], body: &Value) -> anyhow::Result<()> {
    let tag = tag_as_planned(client, planned, known)?;
    finished(&client.patch(&path(planned), tag.as_ref(), body)?)
}

fn delete(client: &Client, planned: &Existing, known: &[Existing]) -> anyhow::Result<()> {
    let tag = tag_as_planned(client, planned, known)?;
    finished(&client.delete(&path(planned), tag.as_ref())?)
}

const CHANGED_MEANWHILE: &str =
    "it was changed by someone else in the meantime and is left unchanged; run plan again";

fn finished(answer: &Answer) -> anyhow::Result<()> {
    ensure!(answer.status != StatusCode::PRECONDITION_FAILED, CHANGED_MEANWHILE);
    ensure!(answer.status.is_success(), "{}", answer.refusal());
    Ok(())
}

/// The tag of an object that is still as the plan saw it. Changing it with the tag leaves no gap between the two.
fn tag_as_planned(
    client: &Client,
    planned: &Existing,
    known: &[Existing],
) -> anyhow::Result<Option<HeaderValue>> {
    let answer = client.get(&path(planned))?;
    ensure!(
        answer.status != StatusCode::NOT_FOUND,
        "it was deleted by someone else in the meantime; run plan again"
    );
    let tag = answer.tag.clone();
    let Value::Object(shown) = answer.data().context("it could not be read back")? else {
        bail!("the gateway's response is not an object")
    };
    let now = Value::Object(existing(planned.kind, shown, known).settings);
    ensure!(same(&now, &Value::Object(planned.settings.clone())), CHANGED_MEANWHILE);
    Ok(tag)
}

fn path(object: &Existing) -> String {
    format!("{}/{}", object.kind.path(), object.id)
}
