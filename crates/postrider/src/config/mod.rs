//! Settings from flags, environment and file, in that order of strength. All mistakes are reported at once.

#[cfg(test)]
mod documented;
mod layers;
mod listed;
mod secret_keys;
#[cfg(test)]
mod tests;
mod values;

use crate::cli::ServeArgs;
use crate::own_memory;
use crate::serve::room::ConnectionLimits;
use http::HeaderValue;
use ipnet::IpNet;
pub(crate) use layers::Given;
use layers::Layers;
pub(crate) use listed::ListedDestination;
use postrider_core::id::DestinationId;
use postrider_core::limits::{
    BACKLOG_AGE_SECONDS_MAX, IDLE_CONNECTIONS_MAX, IN_FLIGHT_BYTES_MIN, IN_FLIGHT_PART,
    PROMOTION_AGE_DEFAULT, SLOTS_DEFAULT,
};
use postrider_core::scheduler::{ByteLimits, Floors};
use postrider_engine::send::{DestinationUrl, Refusal};
use postrider_engine::{BacklogLimits, SampleRatio};
pub(crate) use secret_keys::SecretKeys;
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
pub(crate) use values::{check_strength, database_url};
use values::{count, log_format, number, path, size, url};

/// How the gateway is set up. Everything in it is legal.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    /// An address of its own for the metrics.
    pub(crate) metrics_listen: Option<SocketAddr>,
    pub(crate) data_dir: PathBuf,
    /// The database that nodes share; without it the data directory is used.
    pub(crate) database_url: Option<DatabaseUrl>,
    /// What people know this node by, among those that share a database.
    pub(crate) node_name: String,
    /// A node that was not heard of for so long is taken for dead by the others.
    pub(crate) lease: Duration,
    /// How long startup waits for the database.
    pub(crate) database_wait: Duration,
    pub(crate) egress_allow: Vec<IpNet>,
    /// Plain http is not sent to.
    pub(crate) https_only: bool,
    /// What receivers are asked to agree to; the host of the public URL when `None`.
    pub(crate) handshake_origin: Option<HeaderValue>,
    pub(crate) slots: u32,
    pub(crate) workers: usize,
    /// Connections to receivers that are kept open between attempts: no setting, but brought in line like one.
    pub(crate) idle_connections: usize,
    /// Slots that each band of priority may always have.
    pub(crate) floors: Option<Floors>,
    /// Waiting for a slot for so long makes a delivery one band more urgent.
    pub(crate) promotion_age: Option<Duration>,
    /// Bytes of attempts in flight above which no further large body is sent.
    pub(crate) bytes: ByteLimits,
    pub(crate) backlog: BacklogLimits,
    pub(crate) connections: ConnectionLimits,
    pub(crate) grace: Duration,
    pub(crate) public_url: Option<String>,
    /// Anybody may read the four figures of the whole gateway.
    pub(crate) public_platform_stats: bool,
    pub(crate) retention_days: u32,
    pub(crate) retention_bytes: Option<u64>,
    pub(crate) disk_reserve_bytes: u64,
    /// Dead letters are appended to it as they happen.
    pub(crate) dead_letter_file: Option<PathBuf>,
    pub(crate) dead_letter_file_bytes_max: u64,
    /// Where the operator is told of what befalls destinations.
    pub(crate) operational_destination: Option<DestinationId>,
    pub(crate) admin_key: Option<SecretText>,
    /// Opens the metrics and nothing else.
    pub(crate) metrics_key: Option<SecretText>,
    /// Opens `/webhooks` and signs what comes in there.
    pub(crate) webhooks_secret: Option<SecretText>,
    /// What secrets are sealed with at rest.
    pub(crate) secret_keys: Option<SecretKeys>,
    pub(crate) log: String,
    pub(crate) log_format: LogFormat,
    /// Where traces go, if anywhere.
    pub(crate) traces: Option<TracesTo>,
    /// Destinations that get every event posted to `/ingress`.
    pub(crate) destinations: Vec<ListedDestination>,
    /// Tells apart what is set from what was set before.
    pub(crate) given: Given,
}

/// A key or secret as it was given, which no log must show.
#[derive(Clone)]
pub(crate) struct SecretText(pub(crate) String);

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// A URL that may have a password in it, which no log must show.
#[derive(Clone)]
pub(crate) struct DatabaseUrl(pub(crate) String);

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// A collector of traces.
#[derive(Clone, Debug)]
pub(crate) struct TracesTo {
    pub(crate) url: String,
    pub(crate) protocol: OtlpProtocol,
    /// How many of the traces that begin here it gets.
    pub(crate) ratio: SampleRatio,
}

/// How a collector is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtlpProtocol {
    Http,
    Grpc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// Every mistake in the settings, one a line.
#[derive(Debug)]
pub(crate) struct Mistakes(pub(crate) Vec<String>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the settings cannot be used:")?;
        self.0.iter().try_for_each(|mistake| write!(f, "\n  {mistake}"))
    }
}

impl std::error::Error for Mistakes {}

const DAY_SECONDS: u64 = 24 * 3600;
const RESERVE_BYTES_DEFAULT: u64 = 64 << 20;
const DEAD_LETTER_FILE_MB_DEFAULT: u64 = 100;

impl Config {
    /// Reads all layers. `environment` is an argument so that tests need not touch the process's own.
    pub(crate) fn read(args: &ServeArgs, environment: &HashMap<String, String>) -> Result<Config, Mistakes> {
        let mut layers = Layers::gather(args, environment);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let retention_days = layers.one("retention_days", |v| count(v, 3650)).unwrap_or(7);
        let slots =
            layers.one("slots", |v| count(v, postrider_core::limits::SLOTS_MAX)).unwrap_or(SLOTS_DEFAULT);
        let workers = layers.one("workers", |v| count(v, 256)).map_or(cores, |workers| workers as usize);
        let config = Config {
            listen: layers.one("listen", values::address).unwrap_or(SocketAddr::from(([127, 0, 0, 1], 8080))),
            metrics_listen: layers.one("metrics_listen", values::address),
            data_dir: layers.one("data_dir", path).unwrap_or_else(|| PathBuf::from("postrider-data")),
            database_url: layers.one("database_url", values::database_url).map(DatabaseUrl),
            node_name: layers.one("node_name", values::node_name).unwrap_or_else(values::host_name),
            lease: Duration::from_secs(layers.one("lease_seconds", |v| number(v, 2, 300)).unwrap_or(10)),
            database_wait: Duration::from_secs(
                layers.one("database_wait_seconds", |v| number(v, 0, DAY_SECONDS)).unwrap_or(60),
            ),
            egress_allow: layers.many("egress_allow", values::range),
            https_only: layers.one("https_only", values::switch).unwrap_or(false),
            handshake_origin: layers.one("handshake_origin", values::origin),
            slots,
            floors: layers.one("priority_floors", |v| values::floors(v, slots)),
            promotion_age: layers
                .one("promotion_age_seconds", |v| number(v, 0, 30 * DAY_SECONDS))
                .map_or(Some(PROMOTION_AGE_DEFAULT), |age| (age > 0).then(|| Duration::from_secs(age))),
            bytes: bytes(&mut layers, own_memory::bytes()),
            backlog: backlog(&mut layers),
            connections: connections(&mut layers),
            workers,
            idle_connections: IDLE_CONNECTIONS_MAX * workers,
            grace: Duration::from_secs(layers.one("grace_seconds", |v| number(v, 0, 3600)).unwrap_or(30)),
            public_url: layers.one("public_url", url),
            public_platform_stats: layers.one("public_platform_stats", values::switch).unwrap_or(false),
            retention_days,
            retention_bytes: layers.one("retention_bytes", |v| size(v, 16 << 20)),
            disk_reserve_bytes: layers.one("disk_reserve", |v| size(v, 0)).unwrap_or(RESERVE_BYTES_DEFAULT),
            dead_letter_file: layers.one("dead_letter_file", values::file),
            dead_letter_file_bytes_max: layers
                .one("dead_letter_file_max_mb", |v| number(v, 1, 1_000_000))
                .unwrap_or(DEAD_LETTER_FILE_MB_DEFAULT)
                * 1_000_000,
            operational_destination: layers.one("operational_destination", values::destination),
            admin_key: layers.one("admin_key", values::admin_key).map(SecretText),
            metrics_key: layers.one("metrics_key", values::admin_key).map(SecretText),
            webhooks_secret: layers.one("webhooks_secret", values::webhooks_secret).map(SecretText),
            secret_keys: layers.one("secret_key", values::secret_keys),
            log: layers.one("log", values::log_filter).unwrap_or_else(|| "info,tokio_postgres=warn".into()),
            log_format: layers.one("log_format", log_format).unwrap_or(LogFormat::Text),
            traces: traces(&mut layers),
            given: layers.given(),
            destinations: listed::read(&mut layers),
        };
        if config.https_only {
            refuse_plain(&config.destinations, &mut layers);
        }
        let mistakes = layers.into_mistakes();
        if mistakes.is_empty() { Ok(config) } else { Err(Mistakes(mistakes)) }
    }

    /// How long events are kept.
    pub(crate) fn retention(&self) -> Duration {
        Duration::from_secs(u64::from(self.retention_days) * DAY_SECONDS)
    }
}

fn refuse_plain(listed: &[ListedDestination], layers: &mut Layers) {
    for plain in listed.iter().filter(|found| DestinationUrl::parse(&found.url).is_ok_and(|url| !url.tls)) {
        layers.mistake(format!("url of the destination {:?}: {}", plain.name, Refusal::Plain));
    }
}

fn traces(layers: &mut Layers) -> Option<TracesTo> {
    let protocol = layers.one("otlp_protocol", values::otlp_protocol).unwrap_or(OtlpProtocol::Http);
    let ratio = layers.one("otlp_sample_ratio", values::sample_ratio).unwrap_or_default();
    layers.one("otlp_endpoint", url).map(|url| TracesTo { url, protocol, ratio })
}

/// With less memory than the defaults are for, they are a part of what there is.
fn default_bytes(memory_bytes: u64) -> ByteLimits {
    let ByteLimits { node, account, destination } = ByteLimits::default();
    let least = node.min(memory_bytes / IN_FLIGHT_PART).max(IN_FLIGHT_BYTES_MIN);
    let of = |part: u64| (part * least / node).max(IN_FLIGHT_BYTES_MIN);
    ByteLimits { node: least, account: of(account), destination: of(destination) }
}

fn bytes(layers: &mut Layers, memory_bytes: u64) -> ByteLimits {
    let defaults = default_bytes(memory_bytes);
    let mut most = |key, default| layers.one(key, |v| size(v, IN_FLIGHT_BYTES_MIN)).unwrap_or(default);
    ByteLimits {
        node: most("in_flight_bytes_max", defaults.node),
        account: most("in_flight_bytes_per_account_max", defaults.account),
        destination: most("in_flight_bytes_per_destination_max", defaults.destination),
    }
}

fn backlog(layers: &mut Layers) -> BacklogLimits {
    let defaults = BacklogLimits::default();
    BacklogLimits {
        rows: layers.one("backlog_max_rows", |v| number(v, 1, u64::MAX)).unwrap_or(defaults.rows),
        bytes: layers.one("backlog_max_bytes", |v| size(v, 1)).unwrap_or(defaults.bytes),
        age: layers
            .one("backlog_max_age", |v| number(v, 1, u64::from(BACKLOG_AGE_SECONDS_MAX)))
            .map_or(defaults.age, Duration::from_secs),
        commit: layers
            .one("commit_max_ms", |v| number(v, 10, 600_000))
            .map_or(defaults.commit, Duration::from_millis),
    }
}

fn connections(layers: &mut Layers) -> ConnectionLimits {
    let defaults = ConnectionLimits::default();
    let mut most =
        |key, default| layers.one(key, |v| count(v, 1_000_000)).map_or(default, |most| most as usize);
    ConnectionLimits {
        total: most("connections_max", defaults.total),
        per_address: most("connections_per_address_max", defaults.per_address),
    }
}
