//! What can be done with an object of any kind.

use super::super::{Agreement, Reading, items, shown, text};
use super::named::{ids_of, names_in};
use super::{Kind, all};
use crate::client::Client;
use crate::command::assignment;
use crate::terminal::{Screen, clean, say, say_json};
use anyhow::ensure;
use clap::Subcommand;
use serde_json::{Value, json};

#[derive(Subcommand)]
pub(super) enum Verb {
    /// List all.
    List,
    /// Show one with all its settings.
    Show {
        /// ID or name
        #[arg(value_name = "ID")]
        which: String,
    },
    /// Create one.
    Create {
        /// name=text, name:=json, name=@file; fields as in the API
        #[arg(value_name = "FIELD=VALUE", required = true)]
        fields: Vec<String>,
    },
    /// Change the given settings and keep the others.
    Edit {
        /// ID or name
        #[arg(value_name = "ID")]
        which: String,
        /// name=text, name:=json, name=@file; name:=null clears an optional field
        #[arg(value_name = "FIELD=VALUE", required = true)]
        fields: Vec<String>,
    },
    /// Delete one. Pending deliveries of a destination become dead letters; a key stops working at once.
    Delete {
        /// ID or name
        #[arg(value_name = "ID")]
        which: String,
        #[command(flatten)]
        agreement: Agreement,
    },
}

impl Verb {
    pub(super) fn run(&self, reading: &Reading, kind: Kind) -> anyhow::Result<()> {
        let client = reading.client()?;
        match self {
            Verb::List => {
                let listed = all(&client, kind)?;
                if reading.json {
                    return say_json(&listed);
                }
                if items(&listed).is_empty() {
                    let (noun, word) = (kind.noun(), kind.word());
                    eprintln!("no {noun} yet; `postrider {word} create --help` shows how to create one");
                    return Ok(());
                }
                let listed = names_in(&client, listed);
                say(&kind.table(items(&listed)).text(Screen::of_stdout()))
            }
            Verb::Show { which } => {
                let path = format!("{}/{}", kind.path(), kind.find(&client, which)?);
                answer(reading, &client.read(&path, &[])?)
            }
            Verb::Create { fields } => {
                let wanted = ids_of(&client, assignment::object(fields)?)?;
                check_name(&client, kind, text(&wanted["name"]))?;
                let made = client.post(kind.path(), &wanted)?.data()?;
                answer(reading, &made)
            }
            Verb::Edit { which, fields } => edit(reading, &client, kind, which, fields),
            Verb::Delete { which, agreement } => delete(reading, &client, kind, which, agreement),
        }
    }
}

/// A command that is run twice is not to make two of one name: both would get every event, and neither could be named.
fn check_name(client: &Client, kind: Kind, name: &str) -> anyhow::Result<()> {
    if name.is_empty() || kind == Kind::Key {
        return Ok(());
    }
    let listed = all(client, kind)?;
    let known = items(&listed).iter().find(|one| one["name"] == name);
    let id = known.map(|one| clean(text(&one["id"]))).unwrap_or_default();
    let (noun, word) = (kind.noun(), kind.word());
    ensure!(
        known.is_none(),
        "{noun} {name:?} already exists, {id}; change it with `postrider {word} edit`, or choose another name"
    );
    Ok(())
}

/// Only what is still as it was when the command began: of two people who change one thing, the second is told.
fn edit(
    reading: &Reading,
    client: &Client,
    kind: Kind,
    which: &str,
    fields: &[String],
) -> anyhow::Result<()> {
    let body = ids_of(client, assignment::object(fields)?)?;
    let path = format!("{}/{}", kind.path(), kind.find(client, which)?);
    let before = client.get(&path)?;
    ensure!(before.status.is_success(), before.refusal());
    answer(reading, &client.patch(&path, before.tag.as_ref(), &body)?.data()?)
}

fn delete(
    reading: &Reading,
    client: &Client,
    kind: Kind,
    which: &str,
    agreement: &Agreement,
) -> anyhow::Result<()> {
    let id = kind.find(client, which)?;
    agreement.asked(|| Ok(format!("Delete the {} {id}", kind.noun())))?;
    let answer = client.delete(&format!("{}/{id}", kind.path()), None)?;
    ensure!(answer.status.is_success(), answer.refusal());
    match reading.json {
        true => say_json(&json!({ "id": id, "deleted": true })),
        false => say(&format!("{id} deleted\n")),
    }
}

fn answer(reading: &Reading, object: &Value) -> anyhow::Result<()> {
    if reading.json { say_json(object) } else { say(&settings(object)) }
}

/// A field a line. An account is made with its first key beside it.
fn settings(object: &Value) -> String {
    let mut lines = String::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        match name.as_str() {
            "account" if value.is_object() => lines.push_str(&settings(value)),
            // The same key by other names, for GetHook's scripts.
            "plain_key" => {}
            "api_key" if object["key"].is_string() => {}
            "api_key" => lines.push_str(&line(name, &value["key"])),
            _ => lines.push_str(&line(name, value)),
        }
    }
    let first_key = &object["api_key"]["key"];
    let new =
        [("key", &object["key"]), ("api_key", first_key), ("signing_secret", &object["signing_secret"])];
    for (name, secret) in new {
        let is_twice = name == "api_key" && object["key"].is_string();
        if !text(secret).is_empty() && *secret != "[redacted]" && !is_twice {
            lines.push_str(&format!("{name} is shown only once; store it now\n"));
        }
    }
    lines
}

fn line(name: &str, value: &Value) -> String {
    format!("{:<20}  {}\n", clean(name), clean(&shown(value)))
}
