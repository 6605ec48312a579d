//! Rows of a segment as cells, and places among them.

use crate::checksum;
use crate::error::corrupt;
use crate::rows::uint;
use postrider_core::id::EventId;
use postrider_store::StoreError;
use postrider_store::transfer::{Cell, Column, Position, Row, Table};
use rusqlite::types::{Value, ValueRef};

/// The columns of the primary key: the order in which rows are read.
pub(super) fn keys(table: Table) -> Vec<&'static str> {
    match table {
        Table::Events | Table::Attempts => vec!["t.id"],
        Table::DeadLetters => vec!["t.delivery_id"],
        Table::Idempotency => vec!["t.scope_id", "t.key_hash"],
        Table::Queue => vec!["t.destination_id", "t.priority", "t.lane", "t.place", "t.delivery_id"],
    }
}

/// The columns as they are selected; of events also what they are checked by.
pub(super) fn columns(table: Table) -> String {
    let owned = matches!(table, Table::Attempts | Table::Idempotency);
    let one = |column: &Column| match column.name() {
        "account_id" if owned => "e.account_id".to_owned(),
        name => format!("t.{name}"),
    };
    let checked = (table == Table::Events).then(|| "t.checksum".to_owned());
    table.columns().iter().map(one).chain(checked).collect::<Vec<_>>().join(", ")
}

/// Other bytes than were accepted are not moved: where they go nothing would tell them from those.
pub(super) fn read_row(table: Table, row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    if table == Table::Events && checksum::check(row).is_err() {
        let event = EventId::from_u64(uint(row.get("id")?));
        return Err(corrupt(&format!("the bytes of {event} are not those that were accepted")));
    }
    let cell = |index: usize| {
        Ok(match row.get_ref(index)? {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(value) => Cell::Int(value),
            // PostgreSQL's text cannot hold a NUL, so it is none on either side.
            ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).replace('\0', "\u{fffd}")),
            ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
            ValueRef::Real(_) => return Err(corrupt("a number")),
        })
    };
    (0..table.columns().len()).map(cell).collect::<rusqlite::Result<_>>().map(Row)
}

pub(super) fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Int(value) => Value::Integer(*value),
        Cell::Text(text) => Value::Text(text.clone()),
        Cell::Bytes(bytes) => Value::Blob(bytes.clone()),
    }
}

/// Behind a row of a segment.
pub(super) struct Place {
    pub(super) segment: i64,
    key: Vec<Cell>,
}

impl Place {
    pub(super) fn of(table: Table, segment: i64, row: &Row) -> Self {
        let cell = |name: &&str| {
            let name = name.trim_start_matches("t.");
            let index = table.columns().iter().position(|column| column.name() == name);
            index.and_then(|index| row.0.get(index)).cloned().unwrap_or(Cell::Null)
        };
        Place { segment, key: keys(table).iter().map(cell).collect() }
    }

    pub(super) fn to_position(&self) -> Position {
        let part = |cell: &Cell| match cell {
            Cell::Int(value) => value.to_string(),
            Cell::Bytes(bytes) => format!("x{}", hex(bytes)),
            Cell::Null | Cell::Text(_) => String::new(),
        };
        let parts = std::iter::once(self.segment.to_string()).chain(self.key.iter().map(part));
        Position(parts.collect::<Vec<_>>().join(" "))
    }

    pub(super) fn parse(table: Table, position: &Position) -> Result<Self, StoreError> {
        let broken = || StoreError::Broken("the place where the move was cut off cannot be read".into());
        let mut parts = position.0.split(' ');
        let segment = parts.next().and_then(|part| part.parse().ok()).ok_or_else(broken)?;
        let cell = |part: &str| match part.strip_prefix('x') {
            Some(digits) => unhex(digits).map(Cell::Bytes),
            None => part.parse().ok().map(Cell::Int),
        };
        let key: Vec<Cell> = parts.map(cell).collect::<Option<_>>().ok_or_else(broken)?;
        if key.len() == keys(table).len() { Ok(Place { segment, key }) } else { Err(broken()) }
    }

    /// The key as SQL has it.
    pub(super) fn literals(&self) -> String {
        let literal = |cell: &Cell| match cell {
            Cell::Int(value) => value.to_string(),
            Cell::Bytes(bytes) => format!("X'{}'", hex(bytes)),
            Cell::Null | Cell::Text(_) => "NULL".to_owned(),
        };
        self.key.iter().map(literal).collect::<Vec<_>>().join(", ")
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let pair = |index: usize| digits.get(index..index + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// The number of an event as its row has it.
pub(super) fn event_of(table: Table, row: &Row) -> u64 {
    uint(row.int(table, table.event_column()))
}

/// What an event that is moved here is checked by from now on.
pub(super) fn checksum_of(row: &Row) -> i64 {
    let cell = |name: &str| {
        let index = Table::Events.columns().iter().position(|column| column.name() == name);
        index.and_then(|index| row.0.get(index))
    };
    let text = |name: &str| match cell(name) {
        Some(Cell::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let body: &[u8] = match cell("body") {
        Some(Cell::Bytes(bytes)) => bytes,
        _ => &[],
    };
    let (deliveries, headers) = (text("deliveries"), text("headers"));
    checksum::of(text("event_type"), deliveries.unwrap_or_default(), headers.unwrap_or_default(), body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written() {
        let row = Row(vec![
            Cell::Int(7),
            Cell::Bytes(vec![0, 255]),
            Cell::Bytes(vec![1]),
            Cell::Int(9),
            Cell::Int(3),
            Cell::Int(4),
        ]);
        let position = Place::of(Table::Idempotency, 2, &row).to_position();
        assert_eq!(position.0, "2 7 x00ff");
        let place = Place::parse(Table::Idempotency, &position).unwrap();
        assert_eq!((place.segment, place.literals().as_str()), (2, "7, X'00ff'"));
        for bad in ["", "1", "1 2", "1 2 x0", "1 2 xzz", "1 2; DROP 3", "1 2 3 4"] {
            assert!(Place::parse(Table::Idempotency, &Position(bad.into())).is_err(), "{bad}");
        }
    }
}
