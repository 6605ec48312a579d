//! A destination that a scenario asks the gateway for.

use serde_json::{Value, json};

/// The highest that the gateway takes: the receiver's outages succeed now and then, so that it is never reached.
const CIRCUIT_THRESHOLD_MAX: u32 = 10_000;

#[derive(Debug, Clone)]
pub(crate) struct NewDestination {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) max_concurrency: u32,
    pub(crate) timeout_seconds: u32,
    pub(crate) retry_policy: Option<Value>,
    pub(crate) priority: u8,
    pub(crate) guards: Guards,
}

/// Whether the gateway may keep away from a destination that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guards {
    AsUsual,
    /// The circuit stays closed and `max_concurrency` is the only limit, so that what is measured is not how well
    /// a destination in trouble is left alone.
    Off,
}

impl NewDestination {
    /// The limits of the throughput scenario.
    pub(crate) fn to(name: &str, url: &str) -> NewDestination {
        NewDestination {
            name: name.to_owned(),
            url: url.to_owned(),
            max_concurrency: 64,
            timeout_seconds: 10,
            retry_policy: None,
            priority: 3,
            guards: Guards::AsUsual,
        }
    }

    /// As the API takes it.
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({
            "name": self.name,
            "url": self.url,
            "max_concurrency": self.max_concurrency,
            "timeout_seconds": self.timeout_seconds,
        });
        if let Some(policy) = &self.retry_policy {
            body["retry_policy"] = policy.clone();
        }
        if self.guards == Guards::Off {
            body["circuit"] = json!({ "threshold": CIRCUIT_THRESHOLD_MAX });
            body["adaptive"] = json!(false);
        }
        body
    }
}

/// Takes a guard's field out of the body if the gateway refused it as unknown: one that has no such guard needs no
/// switch for it. Gives the field's name.
pub(crate) fn without_unknown_guard(body: &mut Value, refusal: &Value) -> Option<String> {
    let field = refusal["field"].as_str().filter(|field| ["circuit", "adaptive"].contains(field))?;
    body.as_object_mut()?.remove(field)?;
    Some(field.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_for_is_sent() {
        let plain = NewDestination::to("a", "http://127.0.0.1:1/a");
        let fields = |wanted: &NewDestination| -> Vec<String> {
            let mut fields: Vec<String> =
                wanted.body().as_object().expect("an object").keys().cloned().collect();
            fields.sort();
            fields
        };
        assert_eq!(fields(&plain), ["max_concurrency", "name", "timeout_seconds", "url"]);
        let bare = NewDestination { guards: Guards::Off, retry_policy: Some(json!({})), ..plain };
        assert_eq!(
            fields(&bare),
            ["adaptive", "circuit", "max_concurrency", "name", "retry_policy", "timeout_seconds", "url"]
        );
    }

    #[test]
    fn only_an_unknown_guard_is_left_out() {
        let bare = NewDestination { guards: Guards::Off, ..NewDestination::to("a", "http://127.0.0.1:1/a") };
        let refused = |field: &str| {
            let mut body = bare.body();
            let left_out = without_unknown_guard(&mut body, &json!({ "field": field }));
            (left_out, body["circuit"].is_null(), body["url"].is_null())
        };
        assert_eq!(refused("circuit"), (Some("circuit".to_owned()), true, false));
        assert_eq!(refused("circuit.threshold"), (None, false, false));
        assert_eq!(refused("url"), (None, false, false));
    }
}
