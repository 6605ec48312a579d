//! What an operator or a tenant is told of by an event of the gateway's own.

use super::pace::Telling;
use bytes::Bytes;
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, DestinationId};
use serde_json::{Value, json};

/// Kinds of operational events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NoticeKind {
    CircuitOpened,
    CircuitClosed,
    DestinationDisabled,
    DeadLetter,
    BacklogOverLimit,
}

impl NoticeKind {
    /// The type of its event.
    pub(crate) const fn event_type(self) -> &'static str {
        match self {
            NoticeKind::CircuitOpened => "postrider.circuit.opened",
            NoticeKind::CircuitClosed => "postrider.circuit.closed",
            NoticeKind::DestinationDisabled => "postrider.destination.disabled",
            NoticeKind::DeadLetter => "postrider.dead_letter.created",
            NoticeKind::BacklogOverLimit => "postrider.backlog.over_limit",
        }
    }
}

/// Something that somebody should be told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Notice {
    pub(crate) kind: NoticeKind,
    /// Whose it is; `None` when it is everybody's.
    pub(crate) account: Option<AccountId>,
    /// What it is about, if it is about a destination.
    pub(crate) destination: Option<DestinationId>,
    /// What else there is to say, an object.
    pub(crate) facts: Value,
}

impl Notice {
    /// What it is about, for telling apart. No id is of both kinds, and none is zero.
    pub(crate) fn subject(&self) -> u64 {
        let account = self.account.map(AccountId::as_u64);
        self.destination.map(DestinationId::as_u64).or(account).unwrap_or(0)
    }
}

impl Telling {
    /// The type of the event.
    pub(crate) fn event_type(&self) -> Option<EventType> {
        EventType::parse(self.notice.kind.event_type()).ok()
    }

    /// The body of the event, in the form that Standard Webhooks suggests.
    pub(crate) fn body(&self, destination_name: Option<&str>) -> Bytes {
        let mut data = self.notice.facts.clone();
        data["account_id"] = self.notice.account.map(|id| id.to_string()).into();
        if let Some(id) = self.notice.destination {
            data["destination_id"] = id.to_string().into();
            data["destination_name"] = destination_name.into();
        }
        data["count"] = self.count.into();
        data["untold"] = self.untold.into();
        let event_type = self.notice.kind.event_type();
        json!({ "type": event_type, "timestamp": self.at.to_string(), "data": data }).to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_core::time::Timestamp;

    #[test]
    fn an_operational_event_has_a_legal_type_and_a_body_of_its_own() {
        for kind in [
            NoticeKind::CircuitOpened,
            NoticeKind::CircuitClosed,
            NoticeKind::DestinationDisabled,
            NoticeKind::DeadLetter,
            NoticeKind::BacklogOverLimit,
        ] {
            let notice = Notice { kind, account: None, destination: None, facts: json!({ "limit": "x" }) };
            let telling = Telling { notice, at: Timestamp::ZERO, count: 2, untold: 3 };
            assert_eq!(telling.event_type().unwrap().as_str(), kind.event_type());
            let body: Value = serde_json::from_slice(&telling.body(None)).unwrap();
            let data = json!({ "limit": "x", "account_id": null, "count": 2, "untold": 3 });
            let expected =
                json!({ "type": kind.event_type(), "timestamp": "1970-01-01T00:00:00.000Z", "data": data });
            assert_eq!(body, expected);
        }
    }
}
