//! The kinds of object: where the API has them, and what a list shows of each.

use super::super::{items, shown, text, time};
use super::{all, is_id_of};
use crate::client::Client;
use crate::terminal::{Cell, Column, Table};
use anyhow::bail;
use serde_json::Value;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::command) enum Kind {
    Destination,
    Source,
    Route,
    Account,
    Key,
}

/// A field in a list.
enum Field {
    /// By its name in the API.
    Plain(&'static str),
    /// Says how the object is.
    State(&'static str),
    Time(&'static str),
}

use Column::{Text, Whole};
use Field::{Plain, State, Time};

const DESTINATION: &[(Column, Field)] = &[
    (Whole("ID"), Plain("id")),
    (Text("NAME"), Plain("name")),
    (Whole("STATUS"), State("status")),
    (Whole("CIRCUIT"), State("circuit_state")),
    (Whole("PENDING"), Plain("pending")),
    (Text("URL"), Plain("url")),
];
const SOURCE: &[(Column, Field)] = &[
    (Whole("ID"), Plain("id")),
    (Text("NAME"), Plain("name")),
    (Whole("STATUS"), State("status")),
    (Whole("PROVIDER"), Plain("provider")),
    (Text("INGEST URL"), Plain("ingest_url")),
];
const ROUTE: &[(Column, Field)] = &[
    (Whole("ID"), Plain("id")),
    (Text("PATTERN"), Plain("event_type_pattern")),
    (Whole("PRIORITY"), Plain("priority")),
    (Whole("ACTIVE"), Plain("active")),
    (Text("SOURCE"), Plain("source_id")),
    (Text("DESTINATION"), Plain("destination_id")),
];
const ACCOUNT: &[(Column, Field)] = &[
    (Whole("ID"), Plain("id")),
    (Text("NAME"), Plain("name")),
    (Text("PLAN"), Plain("plan")),
    (Whole("WEIGHT"), Plain("weight")),
    (Whole("CREATED"), Time("created_at")),
];
const KEY: &[(Column, Field)] = &[
    (Whole("ID"), Plain("id")),
    (Text("NAME"), Plain("name")),
    (Whole("SCOPE"), Plain("scope")),
    (Whole("PREFIX"), Plain("key_prefix")),
    (Whole("LAST USED"), Time("last_used_at")),
    (Whole("ENDS"), Time("expires_at")),
    (Whole("REVOKED"), Time("revoked_at")),
];

impl Kind {
    pub(super) const fn path(self) -> &'static str {
        match self {
            Kind::Destination => "/v1/destinations",
            Kind::Source => "/v1/sources",
            Kind::Route => "/v1/routes",
            Kind::Account => "/v1/accounts",
            Kind::Key => "/v1/api-keys",
        }
    }

    pub(super) const fn noun(self) -> &'static str {
        match self {
            Kind::Destination => "destination",
            Kind::Source => "source",
            Kind::Route => "route",
            Kind::Account => "account",
            Kind::Key => "key",
        }
    }

    /// Of the command.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Kind::Destination => "destinations",
            Kind::Source => "sources",
            Kind::Route => "routes",
            Kind::Account => "accounts",
            Kind::Key => "keys",
        }
    }

    pub(super) const fn prefix(self) -> &'static str {
        match self {
            Kind::Destination => "dst_",
            Kind::Source => "src_",
            Kind::Route => "rte_",
            Kind::Account => "acc_",
            Kind::Key => "key_",
        }
    }

    const fn fields(self) -> &'static [(Column, Field)] {
        match self {
            Kind::Destination => DESTINATION,
            Kind::Source => SOURCE,
            Kind::Route => ROUTE,
            Kind::Account => ACCOUNT,
            Kind::Key => KEY,
        }
    }

    /// The id of what a person names by its id or its name.
    pub(in crate::command) fn find(self, client: &Client, named: &str) -> anyhow::Result<String> {
        if is_id_of(self, named) {
            return Ok(named.to_owned());
        }
        let listed = all(client, self)?;
        let is_it = |one: &&Value| one["name"] == named && one["revoked_at"].is_null();
        let found: Vec<&Value> = items(&listed).iter().filter(is_it).collect();
        match found.as_slice() {
            [one] => Ok(super::id(text(&one["id"]))?.to_owned()),
            [] => {
                bail!("no {} {named:?}; give its ID, {}…, or its name", self.noun(), self.prefix())
            }
            several => bail!("{} {}s are named {named:?}; give the ID", several.len(), self.noun()),
        }
    }

    pub(super) fn table(self, objects: &[Value]) -> Table {
        let columns: Vec<Column> = self.fields().iter().map(|(column, _)| *column).collect();
        let mut table = Table::new(&columns);
        for object in objects {
            table.row(self.fields().iter().map(|(_, field)| cell(object, field)).collect());
        }
        table
    }
}

fn cell(object: &Value, field: &Field) -> Cell {
    match field {
        Plain(name) => Cell::of(&shown(&object[*name])),
        State(name) => Cell::state(&shown(&object[*name])),
        Time(name) => Cell::of(&time(&object[*name])),
    }
}
