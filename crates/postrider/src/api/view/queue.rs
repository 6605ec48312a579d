//! What is owed right now.

use super::destination::{Concurrency, age_ms};
use super::word::{CircuitReason, CircuitState, Lane as LaneWord, NodeResource, WaitingFor};
use postrider_core::delivery::{Lane, Priority};
use postrider_core::id::{AccountId, time_of};
use postrider_core::map::IdMap;
use postrider_core::retry::RetryPolicy;
use postrider_core::scheduler::DestinationQueue;
use postrider_core::time::Timestamp;
use postrider_engine::{Catalog, ClusterQueue, EndingCertificate, ShortageSeen, Shortages, Waiting};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// Accounts that are shown.
const ACCOUNTS_MAX: usize = 100;
/// Certificates that are shown.
const CERTIFICATES_MAX: usize = 100;

/// What is owed right now.
#[derive(Serialize, ToSchema)]
pub(crate) struct Queue {
    /// When the picture was taken.
    #[schema(format = DateTime)]
    taken_at: String,
    total: Waits,
    /// The slots of all nodes; with an admin key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    slots: Option<Slots>,
    /// What the node that answers had no more of within the last five minutes when it wanted to begin attempts; with an admin
    /// key. Their deliveries stay queued and are tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) node_shortages: Option<Vec<NodeShortage>>,
    /// How long the first that could be sent has waited for nothing but a slot, on any node; with an admin key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) scheduler_lag_seconds: Option<f64>,
    /// All four, the most urgent first.
    by_priority: Vec<Waits>,
    /// All four.
    by_lane: Vec<Waits>,
    /// The deepest hundred, the deepest first.
    by_account: Vec<Waits>,
    /// The deepest first.
    items: Vec<QueueItem>,
    /// Certificates that receivers have shown to this node and that end within 14 days or have ended, the nearest first,
    /// at most a hundred.
    pub(crate) certificates: Vec<QueueCertificate>,
    /// The `cursor` of the next page; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) next_cursor: Option<String>,
}

/// Attempts that run, and how many may at once.
#[derive(Serialize, ToSchema)]
struct Slots {
    used: u64,
    total: u64,
    /// How many nodes they are on.
    nodes: usize,
    /// On the node with the greatest share in use.
    busiest: NodeSlots,
}

#[derive(Serialize, ToSchema)]
struct NodeSlots {
    used: u64,
    total: u64,
}

impl Slots {
    fn of(nodes: &[(u64, u64)]) -> Self {
        let share = |(used, total): &(u64, u64)| used * 1000 / total.max(&1);
        let (used, total) = nodes.iter().copied().max_by_key(share).unwrap_or_default();
        Slots {
            used: nodes.iter().map(|(used, _)| used).sum(),
            total: nodes.iter().map(|(_, total)| total).sum(),
            nodes: nodes.len(),
            busiest: NodeSlots { used, total },
        }
    }
}

/// How much waits, and for how long: in all, or of what it names.
#[derive(Default, Serialize, ToSchema)]
struct Waits {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1, maximum = 4)]
    priority: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<LaneWord>)]
    lane: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    account_id: Option<String>,
    /// The name of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<String>,
    /// Deliveries that are owed, those in flight included.
    pending: u64,
    /// When the oldest of them was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    oldest_at: Option<String>,
    /// Its age; 0 when there is none.
    oldest_seconds: f64,
    /// How long the first of those that are due has waited to be sent; 0 when none is due.
    overdue_seconds: f64,
}

/// A destination that is owed something or does not stand as usual.
#[derive(Serialize, ToSchema)]
struct QueueItem {
    destination_id: String,
    account_id: String,
    name: String,
    #[schema(format = "uri")]
    url: String,
    /// Attempts that a delivery to it gets at most, by its own policy; a route may have another.
    max_attempts: u32,
    /// Deliveries that it is owed, those in flight included.
    pending: u64,
    /// The age of the oldest; 0 when there is none.
    oldest_seconds: f64,
    /// How long the first of those that are due has waited to be sent; 0 when none is due.
    overdue_seconds: f64,
    /// The bytes of their bodies.
    pending_bytes: u64,
    /// The oldest delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    oldest: Option<OldestDelivery>,
    /// When the first of those that wait is attempted, if it is not due already and that is known: when it is due, or when
    /// what holds all of them ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    next_due_at: Option<String>,
    /// Attempts that run now.
    in_flight: u32,
    max_concurrency: u32,
    concurrency: Concurrency,
    /// Times something was due and all its concurrency was in use, since the gateway started.
    concurrency_slot_denied: u64,
    #[schema(value_type = CircuitState)]
    circuit_state: &'static str,
    /// Since when its circuit is not closed; absent when it is, or when that was before the gateway started.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    circuit_opened_at: Option<String>,
    /// Why its circuit is not closed; absent when it is, or when it opened before the gateway started.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<CircuitReason>)]
    circuit_reason: Option<&'static str>,
    /// When its open circuit makes the next probe, if time alone brings it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    next_probe_at: Option<String>,
    /// Failures in a row; while its circuit is not closed failed probes are among them.
    consecutive_failures: u32,
    /// Why nothing more is sent now.
    #[schema(value_type = WaitingFor)]
    waiting_for: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    waiting_until: Option<String>,
    /// Ordering keys that wait behind a dead letter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    blocked_keys: Option<u64>,
    /// How long ago the owner of the destination told this; absent when it is the node that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    activity_age_ms: Option<u64>,
}

/// Something that a node had no more of.
#[derive(Serialize, ToSchema)]
pub(crate) struct NodeShortage {
    #[schema(value_type = NodeResource)]
    resource: &'static str,
    /// Attempts that were not begun for it since the node started.
    attempts_deferred: u64,
    /// The last time.
    #[schema(format = DateTime)]
    last_at: String,
}

/// What the node had no more of within so long before now.
pub(crate) fn node_shortages(seen: &Shortages, within: Duration, now: Timestamp) -> Vec<NodeShortage> {
    let recent = |seen: ShortageSeen| {
        let last_at = seen.last_at.filter(|at| now.since(*at) <= within)?;
        Some(NodeShortage {
            resource: seen.shortage.as_str(),
            attempts_deferred: seen.count,
            last_at: last_at.to_string(),
        })
    };
    seen.seen().filter_map(recent).collect()
}

/// The certificate of a destination's receiver.
#[derive(Serialize, ToSchema)]
pub(crate) struct QueueCertificate {
    destination_id: String,
    account_id: String,
    /// The name of the destination.
    name: String,
    /// When it ends, or has ended.
    #[schema(format = DateTime)]
    expires_at: String,
}

/// The first of them, as many as are shown.
pub(crate) fn certificates(ending: impl Iterator<Item = EndingCertificate>) -> Vec<QueueCertificate> {
    let shown = |EndingCertificate { destination, ends_at }: EndingCertificate| QueueCertificate {
        destination_id: destination.id.to_string(),
        account_id: destination.account.to_string(),
        name: destination.name.clone(),
        expires_at: ends_at.to_string(),
    };
    ending.take(CERTIFICATES_MAX).map(shown).collect()
}

#[derive(Serialize, ToSchema)]
struct OldestDelivery {
    delivery_id: String,
    #[schema(format = DateTime)]
    accepted_at: String,
    /// Attempts already made.
    attempts: u32,
}

impl Queue {
    /// The sums are of `all`; `page` is shown one by one.
    pub(crate) fn of(
        queue: &ClusterQueue,
        all: &[&DestinationQueue],
        page: &[&DestinationQueue],
        slots: Option<&[(u64, u64)]>,
        catalog: &Catalog,
    ) -> Self {
        let now = queue.taken_at();
        let item = |found: &&DestinationQueue| QueueItem {
            activity_age_ms: queue.told_ago(found.id).map(age_ms),
            ..QueueItem::of(found, now, catalog)
        };
        let sum = Sums::of(all, now);
        let by_priority = Priority::ALL.into_iter().zip(sum.priorities).map(|(priority, waiting)| Waits {
            priority: Some(priority.number()),
            ..Waits::of(&waiting, now)
        });
        let by_lane = Lane::ALL
            .into_iter()
            .zip(sum.lanes)
            .map(|(lane, waiting)| Waits { lane: Some(lane.as_str()), ..Waits::of(&waiting, now) });
        let mut accounts: Vec<(AccountId, Waiting)> = sum.accounts.into_iter().collect();
        accounts.sort_unstable_by_key(|(id, waiting)| (std::cmp::Reverse(waiting.rows), *id));
        accounts.truncate(ACCOUNTS_MAX);
        let by_account = accounts.into_iter().map(|(id, waiting)| Waits {
            account_id: Some(id.to_string()),
            name: catalog.account(id).map(|found| found.name.clone()),
            ..Waits::of(&waiting, now)
        });
        Queue {
            taken_at: now.to_string(),
            total: Waits::of(&sum.total, now),
            slots: slots.map(Slots::of),
            node_shortages: None,
            scheduler_lag_seconds: None,
            by_priority: by_priority.collect(),
            by_lane: by_lane.collect(),
            by_account: by_account.collect(),
            items: page.iter().map(item).collect(),
            certificates: Vec::new(),
            next_cursor: None,
        }
    }
}

#[derive(Default)]
struct Sums {
    total: Waiting,
    priorities: [Waiting; Priority::COUNT],
    lanes: [Waiting; Lane::COUNT],
    accounts: IdMap<AccountId, Waiting>,
}

impl Sums {
    fn of(all: &[&DestinationQueue], now: Timestamp) -> Self {
        let mut sums = Sums::default();
        for found in all {
            for line in found.lines.iter() {
                sums.total.add(line, now);
                sums.priorities[line.priority.index()].add(line, now);
                sums.lanes[line.lane.index()].add(line, now);
                sums.accounts.entry(found.account).or_default().add(line, now);
            }
        }
        sums
    }
}

impl Waits {
    fn of(waiting: &Waiting, now: Timestamp) -> Self {
        Waits {
            pending: waiting.rows,
            oldest_at: waiting.oldest_at.map(|at| at.to_string()),
            oldest_seconds: seconds(waiting.oldest_at, now),
            overdue_seconds: seconds(waiting.due_since, now),
            ..Waits::default()
        }
    }
}

fn seconds(since: Option<Timestamp>, now: Timestamp) -> f64 {
    since.map_or(0.0, |since| now.since(since).as_secs_f64())
}

impl QueueItem {
    fn of(found: &DestinationQueue, now: Timestamp, catalog: &Catalog) -> Self {
        let mut waiting = Waiting::default();
        found.lines.iter().for_each(|line| waiting.add(line, now));
        let oldest = found.lines.iter().filter_map(|line| line.oldest).min();
        let (seen, known) = (&found.seen, catalog.destination(found.account, found.id));
        QueueItem {
            destination_id: found.id.to_string(),
            account_id: found.account.to_string(),
            name: known.map(|known| known.name.clone()).unwrap_or_default(),
            url: known.map(|known| known.url.clone()).unwrap_or_default(),
            max_attempts: known
                .and_then(|known| known.retry_policy.as_ref())
                .map_or_else(|| RetryPolicy::default().max_attempts(), RetryPolicy::max_attempts),
            pending: seen.pending.rows,
            oldest_seconds: seconds(waiting.oldest_at, now),
            overdue_seconds: seconds(waiting.due_since, now),
            pending_bytes: seen.pending.bytes,
            oldest: oldest.map(|oldest| OldestDelivery {
                delivery_id: oldest.delivery.to_string(),
                accepted_at: time_of(oldest.delivery.as_u64()).to_string(),
                attempts: oldest.attempts,
            }),
            next_due_at: found.next_attempt_at(now).map(|due| due.to_string()),
            in_flight: seen.in_flight,
            max_concurrency: found.max_concurrency,
            concurrency: Concurrency::of(seen.limit, seen.limit_reason),
            concurrency_slot_denied: found.slot_denied,
            circuit_state: seen.circuit.as_str(),
            circuit_opened_at: seen.opened_at.map(|at| at.to_string()),
            circuit_reason: seen.circuit_reason.map(|reason| reason.as_str()),
            next_probe_at: seen.next_probe_at.map(|at| at.to_string()),
            consecutive_failures: seen.consecutive_failures,
            waiting_for: seen.why.as_str(),
            waiting_until: seen.until.map(|until| until.to_string()),
            blocked_keys: Some(seen.blocked_keys as u64).filter(|keys| *keys > 0),
            activity_age_ms: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_node_is_that_with_the_greatest_share_in_use() {
        let slots = Slots::of(&[(200, 512), (90, 100), (0, 0), (100, 512)]);
        assert_eq!((slots.used, slots.total, slots.nodes), (390, 1124, 4));
        assert_eq!((slots.busiest.used, slots.busiest.total), (90, 100));
    }
}
