//! What is owed of one priority and lane as text: `[priority, lane, rows, oldest delivery, its attempts, due]`.

use postrider_core::delivery::{Lane, Priority};
use postrider_core::id::DeliveryId;
use postrider_core::scheduler::{LineQueue, Oldest};
use postrider_core::time::Timestamp;
use serde_json::{Value, json};

pub(super) fn to_json(line: &LineQueue) -> Value {
    let (oldest, attempts) = line.oldest.map(|oldest| (oldest.delivery.as_u64(), oldest.attempts)).unzip();
    let due = line.due.map(Timestamp::unix_ms);
    json!([line.priority.number(), line.lane.as_str(), line.rows, oldest, attempts, due])
}

pub(super) fn from_json(value: &Value) -> Option<LineQueue> {
    let number = |index: usize| value.get(index).and_then(Value::as_u64);
    let lane = value.get(1).and_then(Value::as_str)?;
    let oldest = number(3).zip(number(4)).map(|(delivery, attempts)| {
        let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
        Oldest { delivery: DeliveryId::from_u64(delivery), attempts }
    });
    Some(LineQueue {
        priority: Priority::from_number(number(0)?)?,
        lane: Lane::ALL.into_iter().find(|known| known.as_str() == lane)?,
        rows: number(2)?,
        oldest,
        due: number(5).map(Timestamp::from_unix_ms),
    })
}
