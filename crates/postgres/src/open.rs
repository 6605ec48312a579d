//! Opens a database: checks the server, brings the schema up to date, and joins the other nodes.

use crate::database::{Database, Shared, Thread};
use crate::durability::Durable;
use crate::error::{OpenError, QueryError, last_cause};
use crate::members::{self, Membership};
use crate::news::Tending;
use crate::notice::{self, Heard, Notice};
use crate::url::{self, Address};
use crate::values::column;
use crate::{PostgresOptions, PostgresStore, keys, partitions, passing, tls};
use deadpool_postgres::{
    ClientWrapper, GenericClient, Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod,
    Runtime,
};
use postrider_core::time::Timestamp;
use postrider_store::gather::Gather;
use postrider_store::{News, Turns, Vault};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio_postgres::Config;
use tokio_postgres::error::SqlState;
use tokio_postgres_rustls::MakeRustlsConnect;

mod schema {
    refinery::embed_migrations!("migrations");
}

/// News that wait for the engine.
const NEWS_MAX: usize = 64;
/// Connections of a node for pages, contents, changes and people's queries; a tenth hears notifications.
pub(crate) const CONNECTIONS_MAX: usize = 6;
/// As many of them may be people's, one more for what nodes tell each other, which is short. The others are left to deliveries.
const PEOPLES_CONNECTIONS_MAX: usize = 2;
const TOLD_CONNECTIONS_MAX: usize = 1;
const _: () = assert!(PEOPLES_CONNECTIONS_MAX + TOLD_CONNECTIONS_MAX + 3 <= CONNECTIONS_MAX);
/// One that commits, one for the lease, one that looks whether the server can be written.
const CONNECTIONS_URGENT: usize = 3;
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const SILENCE_MAX: Duration = Duration::from_secs(12);
const VERSION_LEAST: i32 = 140_000;
/// Nodes that start together bring the schema up to date one after the other.
const SCHEMA_LOCK: i64 = 0x706f_7374_7363_6865;

pub(crate) async fn open(
    url: &str,
    vault: Option<Vault>,
    options: PostgresOptions,
) -> Result<PostgresStore, OpenError> {
    let thread = Thread::start().map_err(|error| OpenError::Database(error.to_string()))?;
    let (config, tls) = address(url)?;
    let opened = thread.handle().spawn(join(config, tls, vault, options)).await;
    let (database, news, options, unclean_stop) =
        opened.map_err(|error| OpenError::Database(error.to_string()))??;
    Ok(PostgresStore {
        thread,
        database,
        options,
        unclean_stop,
        told: Arc::default(),
        news: Mutex::new(news),
    })
}

/// Where the server is, and how it is spoken to.
pub(crate) fn address(url: &str) -> Result<(Config, MakeRustlsConnect), OpenError> {
    let Address { mut config, root_certificates } = url::parse(url)?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    // A server that is gone without a word is found to be, whether something is being said to it or not.
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENCE_MAX);
    }
    config.keepalives_idle(SILENCE_MAX / 2).keepalives_interval(SILENCE_MAX / 6).keepalives_retries(3);
    let tls = tls::connector(config.get_ssl_mode(), root_certificates.as_deref())?;
    Ok((config, tls))
}

/// Checks the server and brings the schema up to date.
pub(crate) async fn prepared(client: &mut Object) -> Result<(), OpenError> {
    check_server(client).await?;
    check_owner(client).await?;
    migrate(client).await
}

/// Whether everything of another store was to be moved here, and was not yet.
pub(crate) async fn is_half_moved(client: &impl GenericClient) -> Result<bool, QueryError> {
    let half = client.query_one("SELECT EXISTS (SELECT FROM migration WHERE NOT finished)", &[]).await?;
    column(&half, 0)
}

type Joined = (Shared, mpsc::Receiver<News>, PostgresOptions, bool);

async fn join(
    address: Config,
    tls: MakeRustlsConnect,
    vault: Option<Vault>,
    options: PostgresOptions,
) -> Result<Joined, OpenError> {
    let urgent = pool(&address, &tls, options.lease, CONNECTIONS_URGENT)?;
    let pool = pool(&address, &tls, options.lease, CONNECTIONS_MAX)?;
    let mut client = first_connection(&urgent).await?;
    prepared(&mut client).await?;
    if is_half_moved(&client).await? {
        return Err(OpenError::HalfMoved);
    }
    let vault = keys::vault(&client, vault).await?;
    let identity = members::join(&mut client, &options.node_name, options.lease).await?;
    let unclean_stop = members::left_unclean(&client).await?;
    let durability = Durable::ask(&client).await?;
    drop(client);
    let membership = Membership::new(identity);
    let (notice, own, wanted) = (Notice::default(), AtomicU64::new(0), AtomicU64::new(0));
    let (sender, news) = mpsc::channel(NEWS_MAX);
    let database = Arc::new(Database {
        pool,
        peoples: Turns::new(PEOPLES_CONNECTIONS_MAX),
        told: Arc::new(Semaphore::new(TOLD_CONNECTIONS_MAX)),
        urgent,
        vault,
        membership,
        address,
        tls,
        notice,
        own,
        wanted,
        sharing: tokio::sync::Mutex::default(),
        leaving: AtomicBool::new(false),
        known: Mutex::default(),
        news: sender,
        pages: Gather::default(),
        contents: Gather::default(),
        changing: Mutex::new(None),
        durability,
    });
    let heard = Arc::new(Heard::default());
    let mut tending = Tending::new(Arc::clone(&database), &options, Arc::clone(&heard));
    tending.round().await?;
    tokio::spawn(tending.run());
    tokio::spawn(Notice::run(Arc::clone(&database)));
    tokio::spawn(notice::listen(Arc::clone(&database), heard));
    Ok((database, news, options, unclean_stop))
}

pub(crate) fn pool(
    address: &Config,
    tls: &MakeRustlsConnect,
    lease: Duration,
    connections: usize,
) -> Result<Pool, OpenError> {
    let config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(address.clone(), tls.clone(), config);
    // A node that is frozen inside a transaction must not keep the others from taking it for dead.
    let limit = format!("SET idle_in_transaction_session_timeout = {}", (lease / 2).as_millis().max(1000));
    let limited = Hook::async_fn(move |client: &mut ClientWrapper, _| {
        let limit = limit.clone();
        Box::pin(async move { client.batch_execute(&limit).await.map_err(HookError::Backend) })
    });
    let pool = Pool::builder(manager).max_size(connections).runtime(Runtime::Tokio1).post_create(limited);
    let pool = pool.wait_timeout(Some(CONNECT_TIMEOUT)).create_timeout(Some(CONNECT_TIMEOUT)).build();
    pool.map_err(|error| OpenError::Database(error.to_string()))
}

pub(crate) async fn first_connection(pool: &Pool) -> Result<Object, OpenError> {
    pool.get().await.map_err(|error| {
        let error = QueryError::from(error);
        let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), last_cause);
        if error.may_pass() { OpenError::Away(cause) } else { OpenError::Connect(cause) }
    })
}

async fn check_server(client: &Object) -> Result<(), OpenError> {
    let asked = "SELECT current_setting('server_version_num')::int4, current_setting('server_version'), pg_is_in_recovery()";
    let row = client.query_one(asked, &[]).await?;
    let (number, version, standby) = (column(&row, 0)?, column(&row, 1)?, column(&row, 2)?);
    refusal(number, version, standby).map_or(Ok(()), Err)
}

/// Why a server cannot be used.
fn refusal(number: i32, version: String, standby: bool) -> Option<OpenError> {
    match (number < VERSION_LEAST, standby) {
        (true, _) => Some(OpenError::TooOld(version)),
        (_, true) => Some(OpenError::Standby),
        (false, false) => None,
    }
}

/// A role that only has rights on the tables works until the next of a day is due, which it cannot make.
async fn check_owner(client: &Object) -> Result<(), OpenError> {
    let asked = "SELECT current_user::text, pg_get_userbyid(relowner)::text, pg_has_role(relowner, 'USAGE')
         FROM pg_class WHERE oid = to_regclass('events')";
    let Some(row) = client.query_opt(asked, &[]).await? else { return Ok(()) };
    let (role, owner) = (column(&row, 0)?, column(&row, 1)?);
    if column(&row, 2)? { Ok(()) } else { Err(OpenError::NotOwner { role, owner }) }
}

async fn migrate(client: &mut Object) -> Result<(), OpenError> {
    client.execute("SELECT pg_advisory_lock($1)", &[&SCHEMA_LOCK]).await?;
    let migrations = schema::migrations::runner().set_grouped(true).set_abort_missing(true);
    let done = migrations.run_async(&mut ***client).await;
    let made = if done.is_ok() { partitions::try_to_make_ahead(client, wall_clock()).await } else { Ok(()) };
    client.execute("SELECT pg_advisory_unlock($1)", &[&SCHEMA_LOCK]).await?;
    let Err(error) = done else { return Ok(made?) };
    Err(match error.kind() {
        refinery::error::Kind::MissingVersion(_) | refinery::error::Kind::DivergentVersion(..) => {
            OpenError::SchemaNewer
        }
        refinery::error::Kind::Connection(_, inner) if is_denied(inner.as_ref()) => {
            OpenError::MissingRights(role(client).await)
        }
        refinery::error::Kind::Connection(_, inner) if is_passing(inner.as_ref()) => {
            OpenError::Away(last_cause(&error))
        }
        _ => OpenError::Database(last_cause(&error)),
    })
}

fn is_denied(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    let cause = error.downcast_ref::<tokio_postgres::Error>();
    cause.is_some_and(|error| error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE))
}

fn is_passing(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    error.downcast_ref::<tokio_postgres::Error>().is_some_and(passing::may_pass)
}

async fn role(client: &Object) -> String {
    let found = client.query_one("SELECT current_user::text", &[]).await;
    found.and_then(|row| row.try_get(0)).unwrap_or_default()
}

/// Only for the names of partitions: what is decided in time is decided by the caller's clock.
fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_unix_ms(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_too_old_or_only_reads_is_refused_in_a_sentence() {
        let check = |number, version: &str, standby, said: &str| {
            let refused = refusal(number, version.to_owned(), standby).map(|why| why.to_string());
            assert_eq!(refused.unwrap_or_default(), said);
        };
        check(140_000, "14.0", false, "");
        check(170_006, "17.6", false, "");
        let old = "the database server is PostgreSQL 13.22; Postrider needs 14 or later";
        check(130_022, "13.22", false, old);
        check(130_022, "13.22", true, old);
        let standby = "the database server is a read-only standby; give the URL of the primary";
        check(160_001, "16.1", true, standby);
    }
}
