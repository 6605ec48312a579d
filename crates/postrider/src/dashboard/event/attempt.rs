//! One attempt as the page shows it: what was sent and answered, and where the time went.

use crate::dashboard::clip::short;
use crate::dashboard::show;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Deserialize)]
pub(in crate::dashboard) struct Attempt {
    pub(super) delivery_id: String,
    pub(super) attempt_number: u32,
    /// Before it the delivery was sent again so many times; its attempts are counted anew each time.
    #[serde(skip)]
    pub(super) replays: u32,
    pub(in crate::dashboard) started_at: String,
    pub(in crate::dashboard) timing: Timing,
    outcome: String,
    pub(super) request_headers: Map<String, Value>,
    response_status: Option<u16>,
    response_headers: Option<Map<String, Value>>,
    response_body: Option<String>,
    error_message: Option<String>,
}

#[derive(Deserialize, Serialize)]
pub(in crate::dashboard) struct Timing {
    dns_ms: Option<f64>,
    connect_ms: Option<f64>,
    tls_ms: Option<f64>,
    /// From the beginning to the head of the answer.
    first_byte_ms: Option<f64>,
    pub(in crate::dashboard) total_ms: f64,
}

/// A stretch of the bar of an attempt, in a box of 600.
pub(super) struct Stretch {
    pub(super) name: &'static str,
    /// How it is coloured.
    pub(super) class: &'static str,
    pub(super) ms: f64,
    pub(super) x: f64,
    pub(super) width: f64,
}

impl Attempt {
    /// Which one it is.
    pub(in crate::dashboard) fn title(&self) -> String {
        match self.replays {
            0 => format!("Attempt {}", self.attempt_number),
            replay => format!("Attempt {} of replay {replay}", self.attempt_number),
        }
    }

    pub(in crate::dashboard) fn has_delivered(&self) -> bool {
        self.outcome == "success"
    }

    /// The answer's code, or what went wrong, in words.
    pub(in crate::dashboard) fn result(&self) -> String {
        match (self.response_status, self.error()) {
            (Some(status), _) => format!("responded {status}"),
            (None, Some(message)) => message,
            (None, None) => show::words(&self.outcome),
        }
    }

    pub(super) fn error(&self) -> Option<String> {
        self.error_message.as_deref().map(show::sentence)
    }

    pub(super) fn sent(&self, room: usize) -> String {
        short(&show::lines(&self.request_headers), room)
    }

    /// The headers of the answer and the beginning of its body.
    pub(super) fn answered(&self, room: usize) -> Option<String> {
        let headers = show::lines(self.response_headers.as_ref()?);
        Some(short(&format!("{headers}\n{}", self.response_body.as_deref().unwrap_or_default()), room))
    }

    /// The beginning of the answer's body.
    pub(in crate::dashboard) fn answer(&self, room: usize) -> Option<String> {
        self.response_body.as_deref().filter(|body| !body.is_empty()).map(|body| short(body, room))
    }

    /// Where the time went, one stretch after the other.
    pub(super) fn stretches(&self) -> Vec<Stretch> {
        let Timing { dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms } = &self.timing;
        let (dns, connect, tls) = (dns_ms.unwrap_or(0.0), connect_ms.unwrap_or(0.0), tls_ms.unwrap_or(0.0));
        let until_head = first_byte_ms.unwrap_or(*total_ms);
        let steps = [
            ("Name", "dns", dns),
            ("Connect", "connect", connect),
            ("TLS", "tls", tls),
            ("Waiting for response", "wait", (until_head - dns - connect - tls).max(0.0)),
            ("Answer", "answer", (total_ms - until_head).max(0.0)),
        ];
        let all: f64 = steps.iter().map(|(_, _, ms)| ms).sum::<f64>().max(0.001);
        let mut x = 0.0;
        let mut stretches = Vec::new();
        for (name, class, ms) in steps.into_iter().filter(|(_, _, ms)| *ms > 0.0) {
            let width = ms * 600.0 / all;
            stretches.push(Stretch { name, class, ms, x, width });
            x += width;
        }
        stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_stretches_of_an_attempt_fill_its_bar() {
        let attempt: Attempt = serde_json::from_value(json!({
            "delivery_id": "dlv_1", "attempt_number": 1, "started_at": "", "outcome": "success",
            "timing": { "dns_ms": null, "connect_ms": 2.0, "tls_ms": 3.0, "first_byte_ms": 15.0, "total_ms": 20.0 },
            "request_headers": {},
        }))
        .unwrap();
        let seen: Vec<_> =
            attempt.stretches().iter().map(|found| (found.class, found.ms, found.x, found.width)).collect();
        assert_eq!(
            seen,
            [
                ("connect", 2.0, 0.0, 60.0),
                ("tls", 3.0, 60.0, 90.0),
                ("wait", 10.0, 150.0, 300.0),
                ("answer", 5.0, 450.0, 150.0)
            ]
        );
    }
}
