//! Errors of PostgreSQL, sorted by what the caller does about them.

use crate::passing;
use deadpool_postgres::{HookError, PoolError};
use postrider_store::StoreError;
use std::error::Error;
use std::time::Duration;
use tokio_postgres::error::SqlState;

/// Why a database could not be opened. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL is none.
    #[error("the database URL cannot be used: {0}; it should look like postgres://user@host/database")]
    Url(String),
    /// No connection, and there will be none.
    #[error("cannot connect to the database: {0}; check its user, password, database name and TLS settings")]
    Connect(String),
    /// Nobody there, or a server that takes nobody yet. It may pass by itself.
    #[error("cannot connect to the database: {0}; check its host and port, and that it runs")]
    Away(String),
    /// Below 14.
    #[error("the database server is PostgreSQL {0}; Postrider needs 14 or later")]
    TooOld(String),
    /// A replica that only reads.
    #[error("the database server is a read-only standby; give the URL of the primary")]
    Standby,
    /// It was migrated by a later version.
    #[error("the database was set up by a later version of Postrider; start that version, or a later one")]
    SchemaNewer,
    /// The role may not make tables.
    #[error(
        "the role {0:?} may not set up the database; GRANT CREATE, USAGE ON SCHEMA public TO it, or let its owner start Postrider once"
    )]
    MissingRights(String),
    /// The tables are another role's.
    #[error(
        "the role {role:?} does not own the tables of Postrider, which it must to make and drop those of a day; connect as {owner:?}, or GRANT {owner:?} TO {role:?}"
    )]
    NotOwner {
        /// Who connected.
        role: String,
        /// Whose they are.
        owner: String,
    },
    /// Something in it is not open to the role.
    #[error(
        "the database refuses the role that Postrider connects as: {0}; connect as the role that owns the tables of Postrider"
    )]
    Denied(String),
    /// A move into it was cut off.
    #[error(
        "the move into this database has not been finished; run postrider migrate-store again, as it was run before"
    )]
    HalfMoved,
    /// The secrets in it were sealed with another key.
    #[error("the secrets in the database were sealed with another key; give every node the same secret_key")]
    OtherKey,
    /// Anything else.
    #[error("the database cannot be used: {0}")]
    Database(String),
}

impl OpenError {
    /// Whether trying again later may work, with nothing changed by a person.
    pub const fn may_pass(&self) -> bool {
        matches!(self, OpenError::Away(_))
    }
}

impl From<QueryError> for OpenError {
    fn from(error: QueryError) -> Self {
        match &error {
            _ if error.may_pass() => OpenError::Away(error.to_string()),
            QueryError::Database(cause) if cause.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                OpenError::Denied(error.to_string())
            }
            _ => OpenError::Database(error.to_string()),
        }
    }
}

impl From<tokio_postgres::Error> for OpenError {
    fn from(error: tokio_postgres::Error) -> Self {
        QueryError::from(error).into()
    }
}

/// What went wrong in a query, before it is told to the engine.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueryError {
    #[error("{}", whole(.0))]
    Database(#[from] tokio_postgres::Error),
    #[error("no connection: {}", last_cause(.0))]
    Pool(#[from] PoolError),
    /// A value in the database that this version cannot have written.
    #[error("{0} in the database is not what this version writes")]
    Corrupt(&'static str),
    /// Ownership was taken over; nothing was written.
    #[error("another node took over from this node; nothing was written")]
    Fenced,
    /// Something that another node put into an ordered line has a greater id; nothing was written.
    #[error("another node was faster, up to id {0}")]
    Overtaken(u64),
    /// The server is a standby, or is set to only read.
    #[error("the server only reads")]
    OnlyReads,
    /// The server did not answer.
    #[error("the server did not answer within {} ms", .0.as_millis())]
    Late(Duration),
    /// All numbers of nodes are taken.
    #[error("there are already {0} nodes, which is the most there can be")]
    TooManyNodes(i32),
}

/// The server's sentence; the error by itself says only that there was one.
fn whole(error: &tokio_postgres::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// It says most: "connection refused", "password authentication failed". Those before it only say that there is one.
pub(crate) fn last_cause(error: &(dyn Error + 'static)) -> String {
    error.source().map_or_else(|| error.to_string(), last_cause)
}

impl QueryError {
    /// Whether it is nothing but the moment: the server is not there, starts, stops, recovers, or is too busy.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            QueryError::Database(error)
            | QueryError::Pool(
                PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)),
            ) => passing::may_pass(error),
            QueryError::Pool(PoolError::Timeout(_)) | QueryError::Late(_) => true,
            _ => false,
        }
    }

    /// Whether connections that are open now are of no use any more: those to a server that stopped answering, and
    /// those to one that only reads, which they go on doing after it writes again.
    pub(crate) fn spoils_connections(&self) -> bool {
        match self {
            QueryError::Database(cause) => cause.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION),
            QueryError::Late(_) | QueryError::OnlyReads => true,
            _ => false,
        }
    }
}

impl From<QueryError> for StoreError {
    fn from(error: QueryError) -> Self {
        let state = match &error {
            QueryError::Overtaken(by) => return StoreError::Overtaken(*by),
            QueryError::Fenced => return StoreError::Fenced,
            QueryError::Database(cause) => cause.code(),
            _ => None,
        };
        match state {
            Some(state) if *state == SqlState::DISK_FULL => StoreError::Full,
            _ => StoreError::Unavailable(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::{address, pool};

    #[tokio::test]
    async fn a_database_that_is_not_there_is_told_with_its_cause() {
        // Nobody listens there: it is the port of a service that machines have no more.
        let (config, tls) = address("postgres://nobody@127.0.0.1:1/none").unwrap();
        let pool = pool(&config, &tls, Duration::from_secs(15), 1).unwrap();
        let Err(error) = pool.get().await else { panic!("somebody answers") };
        let told = StoreError::from(QueryError::from(error)).to_string();
        assert!(told.contains("Connection refused"), "{told}");
    }
}
