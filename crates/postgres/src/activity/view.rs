//! What is going on as text, between nodes of one version or two.

use super::line;
use postrider_core::breaker::{Circuit, CircuitReason};
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId};
use postrider_core::map::IdMap;
use postrider_core::scheduler::{Backlog, Depth, DestinationQueue, DestinationView, LimitReason, Why};
use postrider_core::time::Timestamp;
use postrider_store::InFlight;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) fn to_json(queue: &DestinationQueue) -> String {
    let view = &queue.seen;
    let circuit_until = match view.circuit {
        Circuit::Open { until } => Some(until.unix_ms()),
        Circuit::Closed | Circuit::HalfOpen => None,
    };
    let value = json!({
        "in_flight": view.in_flight, "rows": view.pending.rows, "bytes": view.pending.bytes,
        "limit": view.limit, "limit_reason": view.limit_reason.as_str(),
        "circuit": view.circuit.as_str(), "circuit_until": circuit_until,
        "opened_at": view.opened_at.map(Timestamp::unix_ms),
        "circuit_reason": view.circuit_reason.map(CircuitReason::as_str),
        "probe_at": view.next_probe_at.map(Timestamp::unix_ms), "failures": view.consecutive_failures, "blocked_keys": view.blocked_keys,
        "why": view.why.as_str(), "until": view.until.map(Timestamp::unix_ms),
        "account": queue.account.as_u64(), "max_concurrency": queue.max_concurrency,
        "slot_denied": queue.slot_denied, "lines": queue.lines.iter().map(line::to_json).collect::<Vec<_>>(),
    });
    value.to_string()
}

pub(super) fn from_json(id: DestinationId, text: &str) -> Option<DestinationQueue> {
    let value: Value = serde_json::from_str(text).ok()?;
    let number = |field: &str| value.get(field).and_then(Value::as_u64);
    Some(DestinationQueue {
        id,
        account: AccountId::from_u64(number("account")?),
        seen: seen(&value)?,
        max_concurrency: u32::try_from(number("max_concurrency")?).ok()?,
        slot_denied: number("slot_denied")?,
        lines: value.get("lines")?.as_array()?.iter().map(line::from_json).collect::<Option<_>>()?,
    })
}

fn seen(value: &Value) -> Option<DestinationView> {
    let number = |field: &str| value.get(field).and_then(Value::as_u64);
    let word = |field: &str| value.get(field).and_then(Value::as_str);
    let small = |field: &str| number(field).and_then(|number| u32::try_from(number).ok());
    let circuit = match word("circuit")? {
        "open" => Circuit::Open { until: Timestamp::from_unix_ms(number("circuit_until")?) },
        "half_open" => Circuit::HalfOpen,
        _ => Circuit::Closed,
    };
    Some(DestinationView {
        in_flight: small("in_flight")?,
        pending: Depth { rows: number("rows")?, bytes: number("bytes")? },
        limit: small("limit")?,
        limit_reason: LimitReason::from_word(word("limit_reason")?)?,
        circuit,
        // A node of an earlier version does not tell.
        opened_at: number("opened_at").map(Timestamp::from_unix_ms),
        circuit_reason: word("circuit_reason").and_then(CircuitReason::from_word),
        next_probe_at: number("probe_at").map(Timestamp::from_unix_ms),
        consecutive_failures: small("failures")?,
        blocked_keys: usize::try_from(number("blocked_keys")?).ok()?,
        why: Why::from_word(word("why")?)?,
        until: number("until").map(Timestamp::from_unix_ms),
    })
}

pub(super) fn in_flight_to_json(in_flight: &[InFlight]) -> String {
    let one = |one: &InFlight| {
        json!([one.delivery.as_u64(), one.event.as_u64(), one.destination.as_u64(), one.attempts])
    };
    Value::Array(in_flight.iter().map(one).collect()).to_string()
}

pub(super) fn in_flight_from_json(text: &str) -> Option<Vec<InFlight>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let one = |value: &Value| {
        let number = |index: usize| value.get(index).and_then(Value::as_u64);
        Some(InFlight {
            delivery: DeliveryId::from_u64(number(0)?),
            event: EventId::from_u64(number(1)?),
            destination: DestinationId::from_u64(number(2)?),
            attempts: u32::try_from(number(3)?).ok()?,
        })
    };
    value.as_array()?.iter().map(one).collect()
}

pub(super) fn accounts_to_json(accounts: &IdMap<AccountId, Backlog>) -> String {
    let one = |(account, waits): (&AccountId, &Backlog)| {
        let ms = |wait: Duration| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let (longest_wait, uncapped_wait) = (ms(waits.longest_wait), ms(waits.uncapped_wait));
        json!([account.as_u64(), waits.pending.rows, waits.pending.bytes, longest_wait, uncapped_wait])
    };
    Value::Array(accounts.iter().map(one).collect()).to_string()
}

pub(super) fn accounts_from_json(text: &str) -> Option<IdMap<AccountId, Backlog>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let one = |value: &Value| {
        let number = |index: usize| value.get(index).and_then(Value::as_u64);
        let pending = Depth { rows: number(1)?, bytes: number(2)? };
        let longest_wait = Duration::from_millis(number(3)?);
        // A node of an earlier version does not tell.
        let uncapped_wait = number(4).map_or(longest_wait, Duration::from_millis);
        Some((AccountId::from_u64(number(0)?), Backlog { pending, longest_wait, uncapped_wait }))
    };
    value.as_array()?.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_core::delivery::{Lane, OrderKey, Priority};
    use postrider_core::scheduler::{LineQueue, Oldest};

    #[test]
    fn what_goes_on_is_read_as_it_was_told() {
        let view = DestinationView {
            in_flight: 3,
            pending: Depth { rows: 7, bytes: 700 },
            limit: 5,
            limit_reason: LimitReason::Slow,
            circuit: Circuit::Open { until: Timestamp::MAX },
            opened_at: Some(Timestamp::from_unix_ms(11)),
            circuit_reason: Some(CircuitReason::NoSuccess),
            next_probe_at: Some(Timestamp::from_unix_ms(12)),
            consecutive_failures: 2,
            blocked_keys: 1,
            why: Why::Circuit,
            until: Some(Timestamp::from_unix_ms(12)),
        };
        let oldest = Some(Oldest { delivery: DeliveryId::from_u64(u64::MAX), attempts: 3 });
        let line =
            LineQueue { priority: Priority::Bulk, lane: Lane::Retry, rows: 5, oldest, due: view.until };
        let ordered = Lane::Ordered(OrderKey::WHOLE);
        let unseen = LineQueue { lane: ordered, oldest: None, due: None, ..line };
        let quiet = DestinationView { circuit: Circuit::HalfOpen, until: None, ..view };
        for seen in [view, quiet, DestinationView { circuit: Circuit::Closed, ..quiet }] {
            let (id, account) = (DestinationId::from_u64(8), AccountId::from_u64(9));
            let lines = vec![line, unseen];
            let queue = DestinationQueue {
                id,
                account,
                seen,
                max_concurrency: 6,
                slot_denied: u64::MAX,
                lines: lines.into_iter().collect(),
            };
            assert_eq!(from_json(id, &to_json(&queue)), Some(queue));
        }
        let one = InFlight {
            delivery: DeliveryId::from_u64(1),
            event: EventId::from_u64(2),
            destination: DestinationId::from_u64(3),
            attempts: 4,
        };
        assert_eq!(in_flight_from_json(&in_flight_to_json(&[one])), Some(vec![one]));
        let pending = Depth { rows: 1, bytes: 2 };
        let [longest_wait, uncapped_wait] = [4, 3].map(Duration::from_millis);
        let waits = Backlog { pending, longest_wait, uncapped_wait };
        let waiting: IdMap<_, _> = [(AccountId::from_u64(u64::MAX), waits)].into_iter().collect();
        assert_eq!(accounts_from_json(&accounts_to_json(&waiting)), Some(waiting));
    }
}
