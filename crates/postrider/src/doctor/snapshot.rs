//! What a look at a gateway saw. The rules see nothing else.

use postrider_core::time::Timestamp;
use serde_json::Value;

/// As of the alert rules.
pub(crate) const SHED_MINUTES: u64 = 5;

/// A gateway at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Snapshot {
    /// Why it takes no events, when it takes none: the code and the sentence of its refusal.
    pub(crate) not_ready: Option<(String, String)>,
    /// Events that were refused for want of room in the last `SHED_MINUTES`.
    pub(crate) shed: u64,
    /// Shards that nobody owns, and the deliveries that are owed in them.
    pub(crate) unowned: (u64, u64),
    /// Whether its store is its own directory and no database.
    pub(crate) is_embedded: bool,
    /// How far its clock is ahead of ours, in seconds.
    pub(crate) clock_ahead_seconds: i64,
    /// Deliveries that are owed.
    pub(crate) pending: u64,
    /// As an operator sees them.
    pub(crate) slots: Option<Slots>,
    /// What the node had no more of a moment ago, and how many attempts it has not begun for it since it started.
    pub(crate) shortages: Vec<(String, u64)>,
    /// How long the first that could be sent has waited for nothing but a slot.
    pub(crate) scheduler_lag_seconds: f64,
    /// The most urgent first.
    pub(crate) bands: Vec<Waiting>,
    pub(crate) fresh: Waiting,
    pub(crate) retries: Waiting,
    /// The worst first.
    pub(crate) destinations: Vec<DestinationSeen>,
    /// Accounts whose keys and dead letters were looked at.
    pub(crate) accounts: Vec<AccountSeen>,
    /// Those that were not, since there are too many.
    pub(crate) accounts_unseen: usize,
    /// Free bytes of the disk, and those below which no event is taken.
    pub(crate) disk: Option<(u64, u64)>,
    /// After which a delivery becomes more urgent, if it does.
    pub(crate) promotion_age_seconds: Option<u64>,
    /// How long the store took to list the dead letters of an account.
    pub(crate) listing_ms: u64,
    /// Destinations whose certificates end soon, and the seconds until then; fewer than none when they have ended.
    pub(crate) certificates: Vec<(DestinationSeen, i64)>,
}

/// Attempts that run, and how many may at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slots {
    pub(crate) used: u64,
    pub(crate) total: u64,
    pub(crate) nodes: u64,
    /// Used and there on the node with the greatest share in use: what waits for it waits however idle the others are.
    pub(crate) busiest: (u64, u64),
}

/// What was seen of one account.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AccountSeen {
    /// The flag that commands about it need, with a space before it; empty for a key of its own.
    pub(crate) as_account: String,
    /// Keys with an end, and the seconds until then.
    pub(crate) keys: Vec<(String, i64)>,
    /// Deliveries that were given up on in the last hour, up to a page of them.
    pub(crate) deaths_last_hour: u64,
    /// Events since midnight UTC that no route took.
    pub(crate) unrouted_today: u64,
}

/// How much waits, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Waiting {
    pub(crate) pending: u64,
    /// How long ago the oldest came in.
    pub(crate) oldest_seconds: f64,
    /// How long the first of what is due has waited to be sent.
    pub(crate) overdue_seconds: f64,
}

/// A destination that is owed something, or does not stand as usual.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DestinationSeen {
    pub(crate) id: String,
    pub(crate) account: String,
    /// The flag that commands about it need, with a space before it; empty for a key of its own account.
    pub(crate) as_account: String,
    pub(crate) name: String,
    pub(crate) pending: u64,
    pub(crate) oldest_seconds: f64,
    /// How long the first of what is due has waited to be sent.
    pub(crate) overdue_seconds: f64,
    pub(crate) in_flight: u64,
    pub(crate) max_concurrency: u64,
    /// Attempts at once that it gets now.
    pub(crate) limit: u64,
    pub(crate) consecutive_failures: u64,
    pub(crate) circuit: String,
    pub(crate) waiting_for: String,
    pub(crate) blocked_keys: u64,
    pub(crate) oldest_delivery: Option<String>,
    /// How its oldest delivery went last.
    pub(crate) last: Option<LastAttempt>,
    /// What is set of it, if it was looked at.
    pub(crate) settings: Option<SettingsSeen>,
}

/// What advice would change, as it is now.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SettingsSeen {
    pub(crate) timeout_seconds: u64,
    pub(crate) circuit_threshold: Option<u64>,
    /// Its rate limit, if it has one.
    pub(crate) per_second: Option<f64>,
    /// Empty without credentials.
    pub(crate) auth_type: String,
    /// It is sent one delivery after the other, however many may be at once.
    pub(crate) is_strict: bool,
}

/// The last attempt of a delivery that is still owed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LastAttempt {
    pub(crate) error_kind: String,
    pub(crate) error_message: String,
    pub(crate) status: Option<u64>,
    pub(crate) latency_ms: f64,
}

impl Snapshot {
    /// From what `/v1/queue` answered.
    pub(crate) fn of_queue(queue: &Value) -> Self {
        let lane = |name: &str| {
            let of_lane = list(&queue["by_lane"]).iter().find(|found| found["lane"] == name);
            of_lane.map(Waiting::of).unwrap_or_default()
        };
        let slots = queue["slots"].is_object().then(|| Slots::of(&queue["slots"]));
        // An operator sees destinations of all accounts, and asks for each in the name of its own.
        let as_account = |found: DestinationSeen| match slots {
            Some(_) => DestinationSeen { as_account: format!(" --account {}", found.account), ..found },
            None => found,
        };
        let taken_at = queue["taken_at"].as_str().and_then(Timestamp::parse_rfc3339).unwrap_or_default();
        let certificate = |shown: &Value| {
            Some((as_account(DestinationSeen::of(shown)), seconds_until(&shown["expires_at"], taken_at)?))
        };
        Snapshot {
            pending: number(&queue["total"]["pending"]),
            slots,
            shortages: list(&queue["node_shortages"])
                .iter()
                .map(|found| (text(&found["resource"]), number(&found["attempts_deferred"])))
                .collect(),
            scheduler_lag_seconds: queue["scheduler_lag_seconds"].as_f64().unwrap_or_default(),
            bands: list(&queue["by_priority"]).iter().map(Waiting::of).collect(),
            fresh: lane("fresh"),
            retries: lane("retry"),
            destinations: list(&queue["items"]).iter().map(DestinationSeen::of).map(as_account).collect(),
            certificates: list(&queue["certificates"]).iter().filter_map(certificate).collect(),
            ..Snapshot::default()
        }
    }

    /// With the refusals of the last minutes, as `/v1/stats/series` has them by the minute.
    pub(crate) fn see_shed(&mut self, series: &Value, now: Timestamp) {
        let since = now.unix_ms().saturating_sub(SHED_MINUTES * 60_000);
        let is_recent = |point: &&Value| {
            let at = point["at"].as_str().and_then(Timestamp::parse_rfc3339);
            at.is_some_and(|at| at.unix_ms() >= since)
        };
        self.shed =
            list(&series["points"]).iter().filter(is_recent).map(|point| number(&point["shed"])).sum();
    }

    /// With what nobody owns, as `/v1/cluster` shows it.
    pub(crate) fn see_cluster(&mut self, cluster: &Value) {
        self.unowned = (list(&cluster["unowned_shards"]).len() as u64, number(&cluster["unowned_pending"]));
    }

    /// With the store and its disk, as `/v1/settings` shows them.
    pub(crate) fn see_settings(&mut self, settings: &Value) {
        self.is_embedded = settings["store"] == "sqlite";
        let (free, reserve) = (&settings["disk_free_bytes"], &settings["disk_reserve_bytes"]);
        self.disk = free.as_u64().zip(reserve.as_u64());
        self.promotion_age_seconds = settings["promotion_age_seconds"].as_u64();
    }

    /// The first of those that are owed something, to be looked at one by one.
    pub(crate) fn first_owed(&mut self, count: usize) -> impl Iterator<Item = &mut DestinationSeen> {
        self.destinations.iter_mut().filter(|found| found.pending > 0).take(count)
    }
}

impl Slots {
    fn of(slots: &Value) -> Self {
        let busiest = &slots["busiest"];
        Slots {
            used: number(&slots["used"]),
            total: number(&slots["total"]),
            nodes: number(&slots["nodes"]).max(1),
            busiest: (number(&busiest["used"]), number(&busiest["total"])),
        }
    }

    /// Whether a node has none to spare.
    pub(crate) fn are_saturated(&self, percent: u64) -> bool {
        let (used, total) = self.busiest;
        total > 0 && used * 100 >= total * percent
    }

    /// What `--slots` is on each node, if it is the same on all.
    pub(crate) fn of_a_node(&self) -> u64 {
        self.total / self.nodes
    }
}

impl AccountSeen {
    /// With the keys that `/v1/api-keys` listed. Those of portal links are meant to end, and those that were revoked have.
    pub(crate) fn see_keys(&mut self, listed: &Value, now: Timestamp) {
        let in_use = |key: &&Value| key["scope"] != "portal" && key["revoked_at"].is_null();
        let end =
            |key: &Value| Some((key["name"].as_str()?.to_owned(), seconds_until(&key["expires_at"], now)?));
        self.keys = list(listed).iter().filter(in_use).filter_map(end).collect();
    }

    /// With the dead letters of the last hour, as `/v1/dead-letters` listed them.
    pub(crate) fn see_deaths(&mut self, found: &Value) {
        self.deaths_last_hour = list(&found["items"]).len() as u64;
    }

    /// With the events of today that no route took, as `/v1/stats` counted them: a list of them ends where the newest that
    /// it looks through do.
    pub(crate) fn see_unrouted(&mut self, stats: &Value) {
        self.unrouted_today = list(&stats["daily"]).last().map_or(0, |today| number(&today["unrouted"]));
    }
}

impl Waiting {
    fn of(value: &Value) -> Self {
        let seconds = |field: &str| value[field].as_f64().unwrap_or_default();
        Waiting {
            pending: number(&value["pending"]),
            oldest_seconds: seconds("oldest_seconds"),
            overdue_seconds: seconds("overdue_seconds"),
        }
    }
}

impl DestinationSeen {
    fn of(item: &Value) -> Self {
        DestinationSeen {
            id: text(&item["destination_id"]),
            account: text(&item["account_id"]),
            as_account: String::new(),
            name: text(&item["name"]),
            pending: number(&item["pending"]),
            oldest_seconds: item["oldest_seconds"].as_f64().unwrap_or_default(),
            overdue_seconds: item["overdue_seconds"].as_f64().unwrap_or_default(),
            in_flight: number(&item["in_flight"]),
            max_concurrency: number(&item["max_concurrency"]),
            limit: number(&item["concurrency"]["limit"]),
            consecutive_failures: number(&item["consecutive_failures"]),
            circuit: text(&item["circuit_state"]),
            waiting_for: text(&item["waiting_for"]),
            blocked_keys: number(&item["blocked_keys"]),
            oldest_delivery: item["oldest"]["delivery_id"].as_str().map(str::to_owned),
            last: None,
            settings: None,
        }
    }
}

impl SettingsSeen {
    /// From what `/v1/destinations/{id}` answered.
    pub(crate) fn of(shown: &Value) -> Self {
        SettingsSeen {
            timeout_seconds: number(&shown["timeout_seconds"]),
            circuit_threshold: shown["circuit"]["threshold"].as_u64(),
            per_second: shown["rate_limit"]["per_second"].as_f64(),
            auth_type: text(&shown["auth_config"]["type"]),
            is_strict: shown["ordering"] == "strict",
        }
    }
}

impl LastAttempt {
    /// From what `/v1/deliveries/{id}` answered; none when nothing was tried yet.
    pub(crate) fn of_delivery(delivery: &Value) -> Option<Self> {
        let last = list(&delivery["attempts"]).last()?;
        Some(LastAttempt {
            error_kind: text(&last["error_kind"]),
            error_message: text(&last["error_message"]),
            status: last["response_status"].as_u64(),
            latency_ms: last["timing"]["total_ms"].as_f64().unwrap_or_default(),
        })
    }
}

/// Fewer than none of a moment that has passed.
fn seconds_until(moment: &Value, now: Timestamp) -> Option<i64> {
    let moment = moment.as_str().and_then(Timestamp::parse_rfc3339)?;
    i64::try_from((i128::from(moment.unix_ms()) - i128::from(now.unix_ms())) / 1000).ok()
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_that_end_are_those_that_somebody_counts_on() {
        let end = "1970-01-01T01:00:00Z";
        let listed = json!([
            { "name": "ci", "scope": "account", "expires_at": end },
            { "name": "portal session", "scope": "portal", "expires_at": end },
            { "name": "old", "scope": "account", "expires_at": end, "revoked_at": "1970-01-01T00:00:00Z" },
            { "name": "endless", "scope": "account" },
        ]);
        let mut account = AccountSeen::default();
        account.see_keys(&listed, Timestamp::ZERO);
        assert_eq!(account.keys, [("ci".to_owned(), 3600)]);
    }
}
