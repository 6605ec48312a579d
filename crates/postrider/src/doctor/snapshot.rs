//! What a look at a gateway saw. The rules see nothing else.

use serde_json::Value;

/// A gateway at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Snapshot {
    /// Why it takes no events, when it takes none: the code and the sentence of its refusal.
    pub(super) not_ready: Option<(String, String)>,
    /// How far its clock is ahead of ours, in seconds.
    pub(super) clock_ahead_seconds: i64,
    /// Deliveries that are owed.
    pub(super) pending: u64,
    /// Slots used and there, as an operator sees them.
    pub(super) slots: Option<(u64, u64)>,
    /// The most urgent first.
    pub(super) bands: Vec<Waiting>,
    pub(super) fresh: Waiting,
    pub(super) retries: Waiting,
    /// The worst first.
    pub(super) destinations: Vec<DestinationSeen>,
    /// Keys with an end, and the seconds until then.
    pub(super) keys: Vec<(String, i64)>,
    /// Deliveries that were given up on in the last hour, up to a page of them.
    pub(super) deaths_last_hour: u64,
}

/// How much waits, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Waiting {
    pub(super) pending: u64,
    /// How long the first of what is due has waited to be sent.
    pub(super) overdue_seconds: f64,
}

/// A destination that is owed something, or does not stand as usual.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DestinationSeen {
    pub(super) id: String,
    pub(super) account: String,
    /// The flag that commands about it need, with a space before it; empty for a key of its own account.
    pub(super) as_account: String,
    pub(super) name: String,
    pub(super) pending: u64,
    pub(super) oldest_seconds: f64,
    pub(super) in_flight: u64,
    pub(super) max_concurrency: u64,
    pub(super) circuit: String,
    pub(super) waiting_for: String,
    pub(super) blocked_keys: u64,
    pub(super) oldest_delivery: Option<String>,
    /// How its oldest delivery went last.
    pub(super) last: Option<LastAttempt>,
}

/// The last attempt of a delivery that is still owed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LastAttempt {
    pub(super) error_kind: String,
    pub(super) error_message: String,
    pub(super) status: Option<u64>,
    pub(super) latency_ms: f64,
}

impl Snapshot {
    /// From what `/v1/queue` answered.
    pub(super) fn of_queue(queue: &Value) -> Self {
        let lane = |name: &str| {
            let of_lane = list(&queue["by_lane"]).iter().find(|found| found["lane"] == name);
            of_lane.map(Waiting::of).unwrap_or_default()
        };
        let slots = &queue["slots"];
        Snapshot {
            pending: number(&queue["total"]["pending"]),
            slots: slots.is_object().then(|| (number(&slots["used"]), number(&slots["total"]))),
            bands: list(&queue["by_priority"]).iter().map(Waiting::of).collect(),
            fresh: lane("fresh"),
            retries: lane("retry"),
            destinations: list(&queue["items"]).iter().map(DestinationSeen::of).collect(),
            ..Snapshot::default()
        }
    }
}

impl Waiting {
    fn of(value: &Value) -> Self {
        let overdue_seconds = value["overdue_seconds"].as_f64().unwrap_or_default();
        Waiting { pending: number(&value["pending"]), overdue_seconds }
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
            in_flight: number(&item["in_flight"]),
            max_concurrency: number(&item["max_concurrency"]),
            circuit: text(&item["circuit_state"]),
            waiting_for: text(&item["waiting_for"]),
            blocked_keys: number(&item["blocked_keys"]),
            oldest_delivery: item["oldest"]["delivery_id"].as_str().map(str::to_owned),
            last: None,
        }
    }
}

impl LastAttempt {
    /// From what `/v1/deliveries/{id}` answered; none when nothing was tried yet.
    pub(super) fn of_delivery(delivery: &Value) -> Option<Self> {
        let last = list(&delivery["attempts"]).last()?;
        Some(LastAttempt {
            error_kind: text(&last["error_kind"]),
            error_message: text(&last["error_message"]),
            status: last["response_status"].as_u64(),
            latency_ms: last["latency_ms"].as_f64().unwrap_or_default(),
        })
    }
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
