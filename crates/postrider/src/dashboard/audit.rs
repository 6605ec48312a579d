//! The audit log: who changed what, and what it was before.

use super::Shared;
use super::answer::{Frame, Refused, shown};
use super::asked::Asked;
use super::clip::short;
use super::guard::Visitor;
use super::inside::{Inside, Listed};
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const FILTERS: &[&str] = &["noun", "object_id", "key_id", "since", "until"];

const NOUNS: [&str; 9] =
    ["account", "api_key", "source", "destination", "route", "event_type", "event", "dead_letter", "replay"];

#[derive(Deserialize)]
struct Record {
    account_id: String,
    created_at: String,
    way: String,
    key_id: Option<String>,
    key_name: Option<String>,
    method: String,
    path: String,
    noun: String,
    object_id: Option<String>,
    before: Option<Map<String, Value>>,
    after: Option<Map<String, Value>>,
}

/// What a page holds of them, so that it stays small whatever was changed; the API has all of it.
const RECORDS_MAX: &str = "20";
const FIELDS_MAX: usize = 14;
const VALUE_BYTES: usize = 120;

/// Said of everything that is made or deleted, and in the row already.
const SAID: [&str; 3] = ["id", "account_id", "created_at"];

/// A field of what was changed, as it was and as it is.
struct Field<'a> {
    name: &'a str,
    before: String,
    after: String,
}

#[derive(Template)]
#[template(path = "audit.html")]
struct Audit {
    frame: Frame,
    asked: Asked,
    page: Listed<Record>,
}

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(&session, look(&desk.api, &session, asked).await)
}

async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<Audit, Refused> {
    let at = asked.path("/v1/audit", FILTERS);
    let sign = if at.contains('?') { '&' } else { '?' };
    let page = api.get(session, &format!("{at}{sign}limit={RECORDS_MAX}")).await?;
    Ok(Audit { frame: Frame::of(Some(session), "audit"), asked, page })
}

impl Record {
    /// What was done, in a word.
    fn deed(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, Some(_)) => "made",
            (Some(_), None) => "deleted",
            (Some(_), Some(_)) => "changed",
            (None, None) => "used",
        }
    }

    fn fields(&self) -> Vec<Field<'_>> {
        let field = |name| Field {
            name,
            before: value(self.before.as_ref(), name),
            after: value(self.after.as_ref(), name),
        };
        self.names().into_iter().take(FIELDS_MAX).map(field).collect()
    }

    fn fields_left_out(&self) -> usize {
        self.names().len().saturating_sub(FIELDS_MAX)
    }

    fn names(&self) -> BTreeSet<&str> {
        let (before, after) = (self.before.iter().flatten(), self.after.iter().flatten());
        let names = before.chain(after).map(|(name, _)| name.as_str());
        names.filter(|name| !SAID.contains(name)).collect()
    }
}

/// The beginning of a value; nothing where there was none.
fn value(fields: Option<&Map<String, Value>>, name: &str) -> String {
    let text = fields.and_then(|fields| fields.get(name)).map(show::header).unwrap_or_default();
    short(&text, VALUE_BYTES)
}
