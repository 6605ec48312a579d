//! Where a setting may come from, and which one counts.

use crate::cli::ServeArgs;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use toml::{Table, Value};

/// Settings that a file or the environment may hold.
pub(super) const KEYS: &[&str] = &[
    "listen",
    "metrics_listen",
    "data_dir",
    "database_url",
    "node_name",
    "lease_seconds",
    "database_wait_seconds",
    "egress_allow",
    "https_only",
    "handshake_origin",
    "slots",
    "workers",
    "priority_floors",
    "promotion_age_seconds",
    "in_flight_bytes_max",
    "in_flight_bytes_per_account_max",
    "in_flight_bytes_per_destination_max",
    "backlog_max_rows",
    "backlog_max_bytes",
    "backlog_max_age",
    "commit_max_ms",
    "connections_max",
    "connections_per_address_max",
    "grace_seconds",
    "public_url",
    "public_platform_stats",
    "retention_days",
    "retention_bytes",
    "disk_reserve",
    "dead_letter_file",
    "dead_letter_file_max_mb",
    "operational_destination",
    "admin_key",
    "metrics_key",
    "secret_key",
    "webhooks_secret",
    "log",
    "log_format",
    "otlp_endpoint",
    "otlp_protocol",
    "otlp_sample_ratio",
    "destinations",
];

/// Variables with our prefix that are not settings of the server: they are for the clients and the tests.
const OTHER_VARIABLES: [&str; 8] = [
    "POSTRIDER_CONFIG",
    "POSTRIDER_URL",
    "POSTRIDER_KEY",
    "POSTRIDER_PROFILE",
    "POSTRIDER_CHAOS_SECRET",
    "POSTRIDER_TRIGGER_SECRET",
    "POSTRIDER_LISTEN_SECRET",
    "POSTRIDER_SIM_SEED",
];

/// What each setting was given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given(BTreeMap<&'static str, u64>);

impl Given {
    /// The settings that were given something else.
    pub(crate) fn changed(&self, other: &Given) -> Vec<&'static str> {
        KEYS.iter().copied().filter(|key| self.0.get(key) != other.0.get(key)).collect()
    }
}

fn fingerprint(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A value and where it stands, for the sentence that refuses it.
struct Found {
    origin: String,
    values: Vec<String>,
}

pub(super) struct Layers {
    found: BTreeMap<&'static str, Found>,
    pub(super) listed: Option<Value>,
    mistakes: Vec<String>,
}

impl Layers {
    pub(super) fn gather(args: &ServeArgs, environment: &HashMap<String, String>) -> Self {
        let mut layers = Layers { found: BTreeMap::new(), listed: None, mistakes: Vec::new() };
        let file = args.config.clone().or_else(|| environment.get("POSTRIDER_CONFIG").cloned());
        if let Some(file) = file {
            layers.read_file(&file);
        }
        layers.read_environment(environment);
        layers.read_flags(args);
        layers
    }

    fn read_file(&mut self, file: &str) {
        let text = std::fs::read_to_string(file).map_err(|error| error.to_string());
        let table = match text.and_then(|text| text.parse::<Table>().map_err(|error| place(&text, &error))) {
            Ok(table) => table,
            Err(error) => return self.mistakes.push(format!("{file}: cannot be read: {error}")),
        };
        for (key, value) in table {
            let origin = format!("{key} in {file}");
            match (KEYS.iter().find(|known| **known == key), value) {
                (None, _) => {
                    self.mistakes.push(format!("{origin}: no such setting; allowed are {}", KEYS.join(", ")));
                }
                (Some(&"destinations"), listed) => self.listed = Some(listed),
                (Some(known), value) => match plain(&value) {
                    Some(values) => drop(self.found.insert(known, Found { origin, values })),
                    None => {
                        self.mistakes.push(format!(
                            "{origin}: must be a text, a number, true, false or an array of texts"
                        ));
                    }
                },
            }
        }
    }

    fn read_environment(&mut self, environment: &HashMap<String, String>) {
        let mut ours: Vec<_> =
            environment.iter().filter(|(name, _)| name.starts_with("POSTRIDER_")).collect();
        ours.sort();
        for (name, value) in ours {
            let key = name.trim_start_matches("POSTRIDER_").to_ascii_lowercase();
            match KEYS.iter().find(|known| **known == key && **known != "destinations") {
                Some(known) => drop(self.found.insert(known, single(name, value))),
                None if OTHER_VARIABLES.contains(&name.as_str()) => {}
                None => self
                    .mistakes
                    .push(format!("{name}: no such setting; allowed are POSTRIDER_ and {}", env_keys())),
            }
        }
    }

    fn read_flags(&mut self, args: &ServeArgs) {
        let flags: &[(&'static str, &str, &Option<String>)] = &[
            ("listen", "--listen", &args.listen),
            ("metrics_listen", "--metrics-listen", &args.metrics_listen),
            ("data_dir", "--data-dir", &args.data_dir),
            ("database_url", "--database-url", &args.database_url),
            ("node_name", "--node-name", &args.node_name),
            ("lease_seconds", "--lease-seconds", &args.lease_seconds),
            ("database_wait_seconds", "--database-wait-seconds", &args.database_wait_seconds),
            ("https_only", "--https-only", &args.https_only),
            ("handshake_origin", "--handshake-origin", &args.handshake_origin),
            ("slots", "--slots", &args.slots),
            ("workers", "--workers", &args.workers),
            ("priority_floors", "--priority-floors", &args.priority_floors),
            ("promotion_age_seconds", "--promotion-age-seconds", &args.promotion_age_seconds),
            ("in_flight_bytes_max", "--in-flight-bytes-max", &args.in_flight_bytes_max),
            (
                "in_flight_bytes_per_account_max",
                "--in-flight-bytes-per-account-max",
                &args.in_flight_bytes_per_account_max,
            ),
            (
                "in_flight_bytes_per_destination_max",
                "--in-flight-bytes-per-destination-max",
                &args.in_flight_bytes_per_destination_max,
            ),
            ("backlog_max_rows", "--backlog-max-rows", &args.backlog_max_rows),
            ("backlog_max_bytes", "--backlog-max-bytes", &args.backlog_max_bytes),
            ("backlog_max_age", "--backlog-max-age", &args.backlog_max_age),
            ("commit_max_ms", "--commit-max-ms", &args.commit_max_ms),
            ("connections_max", "--connections-max", &args.connections_max),
            (
                "connections_per_address_max",
                "--connections-per-address-max",
                &args.connections_per_address_max,
            ),
            ("grace_seconds", "--grace-seconds", &args.grace_seconds),
            ("public_url", "--public-url", &args.public_url),
            ("public_platform_stats", "--public-platform-stats", &args.public_platform_stats),
            ("retention_days", "--retention-days", &args.retention_days),
            ("retention_bytes", "--retention-bytes", &args.retention_bytes),
            ("disk_reserve", "--disk-reserve", &args.disk_reserve),
            ("dead_letter_file", "--dead-letter-file", &args.dead_letter_file),
            ("dead_letter_file_max_mb", "--dead-letter-file-max-mb", &args.dead_letter_file_max_mb),
            ("operational_destination", "--operational-destination", &args.operational_destination),
            ("log", "--log", &args.log),
            ("log_format", "--log-format", &args.log_format),
            ("otlp_endpoint", "--otlp-endpoint", &args.otlp_endpoint),
            ("otlp_protocol", "--otlp-protocol", &args.otlp_protocol),
            ("otlp_sample_ratio", "--otlp-sample-ratio", &args.otlp_sample_ratio),
        ];
        for (key, flag, value) in flags {
            if let Some(value) = value {
                self.found.insert(*key, single(flag, value));
            }
        }
        if !args.egress_allow.is_empty() {
            let found = Found { origin: "--egress-allow".into(), values: args.egress_allow.clone() };
            self.found.insert("egress_allow", found);
        }
    }

    /// The one value of a setting, checked. A mistake is noted, and the default stands in for it.
    pub(super) fn one<T>(&mut self, key: &str, check: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let found = self.found.get(key)?;
        let checked = match &found.values[..] {
            [value] => check(value),
            _ => Err("must be one value".to_owned()),
        };
        match checked {
            Ok(value) => Some(value),
            Err(allowed) => {
                self.mistakes.push(format!("{}: {allowed}", found.origin));
                None
            }
        }
    }

    /// All values of a setting, checked. Wherever they come from, one text may hold several with commas between them.
    pub(super) fn many<T>(&mut self, key: &str, check: impl Fn(&str) -> Result<T, String>) -> Vec<T> {
        let Some(found) = self.found.get(key) else { return Vec::new() };
        let mut checked = Vec::new();
        for value in found.values.iter().flat_map(|text| text.split(',')) {
            match check(value.trim()) {
                Ok(value) => checked.push(value),
                Err(allowed) => self.mistakes.push(format!("{}: {allowed}", found.origin)),
            }
        }
        checked
    }

    /// What each setting was given, as a fingerprint: some of them are secrets.
    pub(super) fn given(&self) -> Given {
        let found = self.found.iter().map(|(key, found)| (*key, fingerprint(&found.values)));
        let listed = self.listed.iter().map(|listed| ("destinations", fingerprint(&listed.to_string())));
        Given(found.chain(listed).collect())
    }

    pub(super) fn mistake(&mut self, mistake: String) {
        self.mistakes.push(mistake);
    }

    pub(super) fn into_mistakes(self) -> Vec<String> {
        self.mistakes
    }
}

fn single(origin: &str, value: &str) -> Found {
    Found { origin: origin.to_owned(), values: vec![value.to_owned()] }
}

/// Where a file is not TOML, and why. The error's own text quotes the line, which may hold a secret.
fn place(text: &str, error: &toml::de::Error) -> String {
    let end = error.span().map_or(0, |span| span.start);
    let before = text.get(..end).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}: {}", error.message().replace('\n', ", "))
}

fn plain(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Integer(number) => Some(vec![number.to_string()]),
        Value::Boolean(on) => Some(vec![on.to_string()]),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

fn env_keys() -> String {
    let settings = KEYS.iter().filter(|key| **key != "destinations");
    settings.map(|key| key.to_ascii_uppercase()).collect::<Vec<_>>().join(", ")
}
