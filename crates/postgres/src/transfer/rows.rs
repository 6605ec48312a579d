//! The many rows: read in the order of their keys, written as columns.

use crate::error::QueryError;
use crate::values::{column, shard_of, uint};
use deadpool_postgres::{GenericClient, Transaction};
use postrider_core::id::DestinationId;
use postrider_core::time::Timestamp;
use postrider_store::StoreError;
use postrider_store::transfer::{CHUNK_BYTES, CHUNK_ROWS, Cell, Chunk, Column, Position, Row, Table};
use tokio_postgres::types::ToSql;

/// The columns by which rows are found and ordered.
fn keys(table: Table) -> &'static [&'static str] {
    match table {
        Table::Events => &["id"],
        Table::Attempts => &["event_id", "id"],
        Table::DeadLetters => &["event_id", "delivery_id"],
        Table::Idempotency => &["day", "scope_id", "key_hash"],
        Table::Queue => &["shard", "destination_id", "priority", "lane", "place", "delivery_id"],
    }
}

/// The day on which a key was bound, by which its table is partitioned.
pub(super) fn day_bound(row: &Row) -> u64 {
    Timestamp::from_unix_ms(uint(row.int(Table::Idempotency, "received_at"))).day()
}

fn shard(row: &Row) -> i32 {
    shard_of(DestinationId::from_u64(uint(row.int(Table::Queue, "destination_id"))))
}

/// Behind a row.
pub(super) struct Place(Vec<Cell>);

impl Place {
    fn of(table: Table, row: &Row) -> Self {
        let cell = |name: &&str| match *name {
            "day" => Cell::Int(i64::try_from(day_bound(row)).unwrap_or(i64::MAX)),
            "shard" => Cell::Int(shard(row).into()),
            name => {
                let index = table.columns().iter().position(|column| column.name() == name);
                index.and_then(|index| row.0.get(index)).cloned().unwrap_or(Cell::Null)
            }
        };
        Place(keys(table).iter().map(cell).collect())
    }

    fn to_position(&self) -> Position {
        Position(self.0.iter().map(part).collect::<Vec<_>>().join(" "))
    }

    pub(super) fn parse(table: Table, position: &Position) -> Result<Self, StoreError> {
        let cell = |part: &str| match part.strip_prefix('x') {
            Some(digits) => unhex(digits).map(Cell::Bytes),
            None => part.parse().ok().map(Cell::Int),
        };
        let cells: Option<Vec<Cell>> = position.0.split(' ').map(cell).collect();
        let whole = cells.filter(|cells| cells.len() == keys(table).len()).map(Place);
        whole.ok_or_else(|| StoreError::Broken("the place where the move was cut off cannot be read".into()))
    }

    /// As SQL has it.
    fn literals(&self) -> String {
        let literal = |cell: &Cell| match cell {
            Cell::Int(value) => format!("{value}"),
            Cell::Bytes(bytes) => format!("'\\x{}'::bytea", hex(bytes)),
            Cell::Null | Cell::Text(_) => "NULL".to_owned(),
        };
        self.0.iter().map(literal).collect::<Vec<_>>().join(", ")
    }
}

fn part(cell: &Cell) -> String {
    match cell {
        Cell::Int(value) => value.to_string(),
        Cell::Bytes(bytes) => format!("x{}", hex(bytes)),
        Cell::Null | Cell::Text(_) => String::new(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let pair = |index: usize| digits.get(index..index + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..digits.len()).step_by(2).map(pair).collect()
}

pub(super) async fn read(
    client: &impl GenericClient,
    table: Table,
    after: Option<&Place>,
) -> Result<Chunk, QueryError> {
    let rows = client.query(&select(table, after), &[]).await?;
    let rows: Vec<Row> = rows.iter().map(|row| read_row(table, row)).collect::<Result<_, _>>()?;
    let next = rows.last().map(|row| Place::of(table, row).to_position());
    Ok(Chunk { rows, next })
}

fn select(table: Table, after: Option<&Place>) -> String {
    let (name, keys) = (table.name(), keys(table).join(", "));
    let cast = |column: &Column| match column {
        Column::Int(name) => format!("{name}::int8"),
        Column::Text(name) | Column::Bytes(name) => (*name).to_owned(),
    };
    let columns = table.columns().iter().map(cast).collect::<Vec<_>>().join(", ");
    let behind = after.map_or_else(String::new, |place| format!("WHERE ({keys}) > ({})", place.literals()));
    let rows = format!("SELECT * FROM {name} {behind} ORDER BY {keys} LIMIT {CHUNK_ROWS}");
    match table {
        // Bodies may have megabytes: only as many as make a chunk are sent.
        Table::Events => format!(
            "SELECT {columns} FROM (SELECT *, sum(length(body)) OVER (ORDER BY id) - length(body) AS before
             FROM ({rows}) AS r) AS s WHERE before < {CHUNK_BYTES} ORDER BY {keys}"
        ),
        _ => format!("SELECT {columns} FROM ({rows}) AS r ORDER BY {keys}"),
    }
}

fn read_row(table: Table, row: &tokio_postgres::Row) -> Result<Row, QueryError> {
    let cell = |(index, kind): (usize, &Column)| {
        let cell = match kind {
            Column::Int(_) => column::<Option<i64>>(row, index)?.map(Cell::Int),
            Column::Text(_) => column::<Option<String>>(row, index)?.map(Cell::Text),
            Column::Bytes(_) => column::<Option<Vec<u8>>>(row, index)?.map(Cell::Bytes),
        };
        Ok(cell.unwrap_or(Cell::Null))
    };
    table.columns().iter().enumerate().map(cell).collect::<Result<_, QueryError>>().map(Row)
}

type Values = Box<dyn ToSql + Send + Sync>;

pub(super) async fn insert(change: &Transaction<'_>, table: Table, rows: &[Row]) -> Result<(), QueryError> {
    let names: Vec<&str> = table.columns().iter().map(|column| column.name()).collect();
    let kinds = table.columns().iter().enumerate().map(|(index, column)| {
        let kind = match column {
            Column::Int(_) => "int8",
            Column::Text(_) => "text",
            Column::Bytes(_) => "bytea",
        };
        format!("${}::{kind}[]", index + 1)
    });
    let (mut kinds, mut values): (Vec<String>, Vec<Values>) = (
        kinds.collect(),
        (0..names.len()).map(|index| values(rows, table.columns()[index], index)).collect(),
    );
    // What this kind of store has beside the common columns.
    let more = match table {
        Table::Queue => Some(("shard", rows.iter().map(|row| i64::from(shard(row))).collect::<Vec<i64>>())),
        Table::Idempotency => {
            let day = |row| i64::try_from(day_bound(row)).unwrap_or(i64::MAX);
            Some(("day", rows.iter().map(day).collect()))
        }
        Table::Events | Table::Attempts | Table::DeadLetters => None,
    };
    let mut names = names.join(", ");
    if let Some((name, numbers)) = more {
        names = format!("{names}, {name}");
        values.push(Box::new(numbers));
        kinds.push(format!("${}::int8[]", values.len()));
    }
    let sql = format!(
        "INSERT INTO {} ({names}) SELECT * FROM unnest({}) AS r({names})",
        table.name(),
        kinds.join(", ")
    );
    let statement = change.prepare_cached(&sql).await?;
    let values: Vec<&(dyn ToSql + Sync)> =
        values.iter().map(|one| one.as_ref() as &(dyn ToSql + Sync)).collect();
    change.execute(&statement, &values).await?;
    Ok(())
}

/// One column of all rows.
fn values(rows: &[Row], column: Column, index: usize) -> Values {
    let cells = rows.iter().map(|row| &row.0[index]);
    match column {
        Column::Int(_) => {
            let value = |cell: &Cell| if let Cell::Int(value) = cell { Some(*value) } else { None };
            Box::new(cells.map(value).collect::<Vec<Option<i64>>>())
        }
        Column::Text(_) => {
            let value = |cell: &Cell| if let Cell::Text(text) = cell { Some(text.clone()) } else { None };
            Box::new(cells.map(value).collect::<Vec<Option<String>>>())
        }
        Column::Bytes(_) => {
            let value = |cell: &Cell| if let Cell::Bytes(bytes) = cell { Some(bytes.clone()) } else { None };
            Box::new(cells.map(value).collect::<Vec<Option<Vec<u8>>>>())
        }
    }
}
