//! The settings of a destination as a form: what stands in it, and what the API is asked for.

use super::Destination;
use crate::dashboard::filled::Filled;
use crate::dashboard::guard::Form;
use postrider_store::codec::CIRCUIT_PARTS;
use serde_json::{Map, Value, json};

/// By the names that refusals have.
pub(super) const FIELDS: [&str; 14] = [
    "name",
    "url",
    "max_concurrency",
    "adaptive",
    "timeout_seconds",
    "rate_limit.per_second",
    "rate_limit.burst",
    "retry_policy",
    "circuit.threshold",
    "circuit.failure_percent",
    "circuit.window_attempts",
    "circuit.window_seconds",
    "circuit.cooldown_seconds",
    "circuit.cooldown_max_seconds",
];

/// Presets of the API, and what each comes to.
pub(super) const RETRIES: [(&str, &str); 3] = [
    ("standard", "after 30 s, 2 min, 10 min, 1 h, 6 h"),
    ("standard-webhooks", "after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h"),
    ("waford", "after 1 s, 2 s, 4 s"),
];

/// With what is there now.
pub(super) fn filled(found: &Destination) -> Filled {
    let circuit = |part: Option<u32>| part.map(|number| number.to_string()).unwrap_or_default();
    let rate = |part: fn(&super::Rate) -> String| found.rate_limit.as_ref().map(part).unwrap_or_default();
    Filled::with([
        ("name", found.name.clone()),
        ("url", found.url.clone()),
        ("max_concurrency", found.max_concurrency.to_string()),
        ("adaptive", if found.adaptive { "yes" } else { "no" }.to_owned()),
        ("timeout_seconds", found.timeout_seconds.to_string()),
        ("rate_limit.per_second", rate(|rate| rate.per_second.to_string())),
        ("rate_limit.burst", rate(|rate| rate.burst.to_string())),
        ("circuit.threshold", circuit(found.circuit.threshold)),
        ("circuit.failure_percent", circuit(found.circuit.failure_percent)),
        ("circuit.window_attempts", circuit(found.circuit.window_attempts)),
        ("circuit.window_seconds", circuit(found.circuit.window_seconds)),
        ("circuit.cooldown_seconds", found.circuit.cooldown_seconds.to_string()),
        ("circuit.cooldown_max_seconds", found.circuit.cooldown_max_seconds.to_string()),
    ])
}

/// What was filled in, as the API takes it; what is wrong with it the API says. A rate or a circuit that is left empty is
/// taken away or as it is by default, anything else that is left empty stays.
pub(super) fn wanted(form: &Form) -> Value {
    let mut wanted = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            wanted.insert(name.to_owned(), value);
        }
    };
    for name in ["name", "url"] {
        put(name, form.text(name).map(|text| json!(text)));
    }
    for name in ["max_concurrency", "timeout_seconds"] {
        put(name, form.text(name).map(number));
    }
    put("adaptive", form.text("adaptive").map(|text| json!(text == "yes")));
    put("retry_policy", form.text("retry_policy").map(|preset| json!({ "preset": preset })));
    put("rate_limit", object(form, "rate_limit", &["per_second", "burst"]));
    put("circuit", object(form, "circuit", &CIRCUIT_PARTS));
    Value::Object(wanted)
}

/// The parts that were filled in; `null` when none was, and nothing when the form has none of them.
fn object(form: &Form, within: &str, parts: &[&str]) -> Option<Value> {
    let names = parts.iter().map(|part| (*part, format!("{within}.{part}")));
    let given: Vec<_> = names.filter_map(|(part, name)| form.given(&name).map(|text| (part, text))).collect();
    let is_blank = given.iter().all(|(_, text)| text.is_empty());
    // One that is left empty beside others goes back to its default.
    let value = |text: &str| if text.is_empty() { Value::Null } else { number(text) };
    let parts: Map<String, Value> =
        given.iter().map(|(part, text)| ((*part).to_owned(), value(text))).collect();
    match (given.is_empty(), is_blank) {
        (true, _) => None,
        (false, true) => Some(Value::Null),
        (false, false) => Some(Value::Object(parts)),
    }
}

/// What is no number goes on as it is, for the API to refuse.
fn number(text: &str) -> Value {
    let whole = text.parse::<u64>().ok().map(|number| json!(number));
    let broken = || text.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| json!(number));
    whole.or_else(broken).unwrap_or_else(|| json!(text))
}
