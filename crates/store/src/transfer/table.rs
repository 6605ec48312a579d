//! The tables with many rows, with the columns that both kinds of store have.

/// A table with many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// What came in.
    Events,
    /// What was tried.
    Attempts,
    /// What was given up on.
    DeadLetters,
    /// Keys by which an event that comes again is known.
    Idempotency,
    /// What is owed.
    Queue,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A number.
    Int(&'static str),
    /// A text.
    Text(&'static str),
    /// Bytes.
    Bytes(&'static str),
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// None.
    Null,
    /// A number.
    Int(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// A row, in the order of its table's columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row(pub Vec<Cell>);

impl Column {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Column::Int(name) | Column::Text(name) | Column::Bytes(name) => name,
        }
    }
}

impl Row {
    /// The number in a column; 0 where there is none.
    pub fn int(&self, table: Table, name: &str) -> i64 {
        let index = table.columns().iter().position(|column| column.name() == name);
        match index.and_then(|index| self.0.get(index)) {
            Some(Cell::Int(value)) => *value,
            _ => 0,
        }
    }

    /// Roughly what it takes in memory.
    pub fn bytes(&self) -> usize {
        let size = |cell: &Cell| match cell {
            Cell::Null | Cell::Int(_) => 8,
            Cell::Text(text) => text.len(),
            Cell::Bytes(bytes) => bytes.len(),
        };
        self.0.iter().map(size).sum()
    }
}

impl Table {
    /// All of them, in the order in which they are moved.
    pub const ALL: [Table; 5] =
        [Table::Events, Table::Attempts, Table::DeadLetters, Table::Idempotency, Table::Queue];

    /// Its name in every store.
    pub const fn name(self) -> &'static str {
        match self {
            Table::Events => "events",
            Table::Attempts => "attempts",
            Table::DeadLetters => "dead_letters",
            Table::Idempotency => "idempotency",
            Table::Queue => "queue",
        }
    }

    /// The table of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Table::ALL.into_iter().find(|table| table.name() == name)
    }

    /// The one that is moved next.
    pub fn next(self) -> Option<Self> {
        Table::ALL.into_iter().find(|table| *table > self)
    }

    /// By which column a row is found that belongs to an event.
    pub const fn event_column(self) -> &'static str {
        match self {
            Table::Events => "id",
            Table::Attempts | Table::DeadLetters | Table::Idempotency | Table::Queue => "event_id",
        }
    }

    /// Its columns.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Table::Events => EVENTS,
            Table::Attempts => ATTEMPTS,
            Table::DeadLetters => DEAD_LETTERS,
            Table::Idempotency => IDEMPOTENCY,
            Table::Queue => QUEUE,
        }
    }
}

const EVENTS: &[Column] = &[
    Column::Int("id"),
    Column::Int("account_id"),
    Column::Int("source_id"),
    Column::Int("created_by"),
    Column::Text("event_type"),
    Column::Text("external_id"),
    Column::Int("replay_of"),
    Column::Int("received_at"),
    Column::Int("deliver_at"),
    Column::Int("expires_at"),
    Column::Text("deliveries"),
    Column::Text("headers"),
    Column::Bytes("body"),
];

const ATTEMPTS: &[Column] = &[
    Column::Int("event_id"),
    Column::Int("id"),
    Column::Int("account_id"),
    Column::Int("delivery_id"),
    Column::Int("destination_id"),
    Column::Int("number"),
    Column::Int("started_at"),
    Column::Text("outcome"),
    Column::Int("status"),
    Column::Text("next"),
    Column::Int("next_due_at"),
    Column::Text("error_kind"),
    Column::Text("error"),
    Column::Int("dns_us"),
    Column::Int("connect_us"),
    Column::Int("tls_us"),
    Column::Int("first_byte_us"),
    Column::Int("total_us"),
    Column::Text("request_headers"),
    Column::Text("response_headers"),
    Column::Bytes("response_body"),
];

const DEAD_LETTERS: &[Column] = &[
    Column::Int("event_id"),
    Column::Int("delivery_id"),
    Column::Int("account_id"),
    Column::Int("destination_id"),
    Column::Int("route_id"),
    Column::Int("priority"),
    Column::Int("order_key"),
    Column::Int("attempts"),
    Column::Int("bytes"),
    Column::Text("reason"),
    Column::Text("last_error"),
    Column::Int("died_at"),
    Column::Int("discarded_at"),
];

const IDEMPOTENCY: &[Column] = &[
    Column::Int("scope_id"),
    Column::Bytes("key_hash"),
    Column::Bytes("body_hash"),
    Column::Int("event_id"),
    Column::Int("account_id"),
    Column::Int("received_at"),
];

const QUEUE: &[Column] = &[
    Column::Int("destination_id"),
    Column::Int("priority"),
    Column::Int("lane"),
    Column::Int("place"),
    Column::Int("delivery_id"),
    Column::Int("account_id"),
    Column::Int("event_id"),
    Column::Int("route_id"),
    Column::Int("attempts"),
    Column::Int("bytes"),
    Column::Int("due_at"),
    Column::Int("urgency"),
];
