//! Priority rules in the form the API speaks, which is also how stores keep them.

use postrider_core::delivery::Priority;
use postrider_core::limits::{EVENT_TYPE_BYTES_MAX, EXPRESSION_BYTES_MAX, PRIORITY_RULES_MAX};
use postrider_core::pattern::EventPattern;
use postrider_core::priority_rule::PriorityRule;
use serde_json::{Map, Value, json};

/// Which part of the rules is not allowed, and what would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRule {
    /// The part as the API names it, for example `priority_rules[2].when`.
    pub field: String,
    /// What is allowed.
    pub allowed: String,
    /// Whether it must be there and is not.
    pub is_missing: bool,
}

const FORMS: [&str; 6] = ["type", "prefix", "suffix", "when", "value", "header"];

/// Rules in the form the API speaks.
pub fn rules_to_json(rules: &[PriorityRule]) -> Value {
    rules.iter().map(rule_to_json).collect()
}

fn rule_to_json(rule: &PriorityRule) -> Value {
    match rule {
        PriorityRule::Type { pattern, priority } => {
            json!({ "type": pattern.as_str(), "priority": priority.number() })
        }
        PriorityRule::Prefix { prefix, priority } => {
            json!({ "prefix": prefix, "priority": priority.number() })
        }
        PriorityRule::Suffix { suffix, priority } => {
            json!({ "suffix": suffix, "priority": priority.number() })
        }
        PriorityRule::When { when, priority } => json!({ "when": when, "priority": priority.number() }),
        PriorityRule::Value { value } => json!({ "value": value }),
        PriorityRule::Header { name } => json!({ "header": name }),
    }
}

/// Rules from the form the API speaks. Everything in them is checked but what their expressions mean.
pub fn rules_from_json(value: &Value) -> Result<Vec<PriorityRule>, BadRule> {
    let listed = value.as_array().filter(|rules| rules.len() <= PRIORITY_RULES_MAX);
    let Some(rules) = listed else {
        let allowed = format!("must be a list of at most {PRIORITY_RULES_MAX} rules");
        return Err(BadRule { field: "priority_rules".into(), allowed, is_missing: false });
    };
    rules.iter().enumerate().map(|(index, rule)| rule_from_json(index, rule)).collect()
}

fn rule_from_json(index: usize, rule: &Value) -> Result<PriorityRule, BadRule> {
    let place = format!("priority_rules[{index}]");
    let bad = |part: &str, allowed: String| {
        let field = if part.is_empty() { place.clone() } else { format!("{place}.{part}") };
        BadRule { field, allowed, is_missing: false }
    };
    let one_form = || bad("", format!("must be an object with one of {}", FORMS.join(", ")));
    let Value::Object(object) = rule else { return Err(one_form()) };
    let named: Vec<&str> = FORMS.into_iter().filter(|form| object.contains_key(*form)).collect();
    let [form] = named[..] else { return Err(one_form()) };
    let decides = form == "value" || form == "header";
    if let Some(unknown) = object.keys().find(|key| *key != form && (decides || *key != "priority")) {
        let shown: String = unknown.chars().take(64).collect();
        return Err(bad(&shown, format!("does not belong to a rule by {form}")));
    }
    let text = object[form].as_str().ok_or_else(|| bad(form, "must be a text".into()))?;
    let priority = || {
        let refused = bad("priority", "must be a whole number from 1 to 4".into());
        priority(object).ok_or(BadRule { is_missing: !object.contains_key("priority"), ..refused })
    };
    let within = |bytes_max: usize| {
        let legal = !text.trim().is_empty() && text.len() <= bytes_max;
        legal
            .then(|| text.to_owned())
            .ok_or_else(|| bad(form, format!("must be a text of 1 to {bytes_max} bytes")))
    };
    Ok(match form {
        "type" => {
            let pattern = EventPattern::parse(text).map_err(|allowed| bad(form, allowed.to_string()))?;
            PriorityRule::Type { pattern, priority: priority()? }
        }
        "prefix" => PriorityRule::Prefix { prefix: within(EVENT_TYPE_BYTES_MAX)?, priority: priority()? },
        "suffix" => PriorityRule::Suffix { suffix: within(EVENT_TYPE_BYTES_MAX)?, priority: priority()? },
        "when" => PriorityRule::When { when: within(EXPRESSION_BYTES_MAX)?, priority: priority()? },
        "value" => PriorityRule::Value { value: within(EXPRESSION_BYTES_MAX)? },
        _ => {
            let name = text.to_ascii_lowercase();
            let legal = (1..=128).contains(&name.len()) && name.bytes().all(is_token);
            let refused = || bad(form, "must be a header name of at most 128 characters".into());
            PriorityRule::Header { name: legal.then_some(name).ok_or_else(refused)? }
        }
    })
}

fn priority(object: &Map<String, Value>) -> Option<Priority> {
    object.get("priority")?.as_u64().and_then(Priority::from_number)
}

/// What a header name is made of, by RFC 9110.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_go_there_and_back() {
        let value = json!([
            { "type": "payment.*", "priority": 1 },
            { "prefix": "payment.", "priority": 2 },
            { "suffix": ".failed", "priority": 3 },
            { "when": "payload.amount > 1000", "priority": 4 },
            { "value": "payload.urgent ? 1 : 3" },
            { "header": "x-priority" },
        ]);
        assert_eq!(rules_to_json(&rules_from_json(&value).unwrap()), value);
        assert_eq!(rules_from_json(&json!([])).unwrap(), []);
    }

    #[test]
    fn bad_rules_name_their_place() {
        let many: Vec<Value> = vec![json!({ "header": "x" }); PRIORITY_RULES_MAX + 1];
        for (value, field) in [
            (json!(1), "priority_rules"),
            (json!({ "header": "x" }), "priority_rules"),
            (json!(many), "priority_rules"),
            (json!(["x"]), "priority_rules[0]"),
            (json!([{}]), "priority_rules[0]"),
            (json!([{ "priority": 1 }]), "priority_rules[0]"),
            (json!([{ "header": "x" }, { "type": "a", "when": "true", "priority": 1 }]), "priority_rules[1]"),
            (json!([{ "type": "a..b", "priority": 1 }]), "priority_rules[0].type"),
            (json!([{ "type": "a" }]), "priority_rules[0].priority"),
            (json!([{ "prefix": "a", "priority": 5 }]), "priority_rules[0].priority"),
            (json!([{ "prefix": "", "priority": 1 }]), "priority_rules[0].prefix"),
            (json!([{ "suffix": 1, "priority": 1 }]), "priority_rules[0].suffix"),
            (json!([{ "when": "a".repeat(5000), "priority": 1 }]), "priority_rules[0].when"),
            (json!([{ "value": "1", "priority": 1 }]), "priority_rules[0].priority"),
            (json!([{ "value": null }]), "priority_rules[0].value"),
            (json!([{ "header": "x y" }]), "priority_rules[0].header"),
            (json!([{ "header": "x", "colour": "red" }]), "priority_rules[0].colour"),
        ] {
            assert_eq!(rules_from_json(&value).unwrap_err().field, field, "{value}");
        }
    }
}
