//! Plans for people and for programs. Neither holds a secret, nor anything that steers a terminal: names and values are
//! those of a file or of a gateway.

use super::apply::{Applied, Made};
use super::difference::Difference;
use super::kind::Kind;
use super::object::Existing;
use super::plan::{Plan, Step};
use crate::terminal::clean;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A plan for a person.
pub(super) fn text(plan: &Plan) -> String {
    let mut out = String::new();
    for step in &plan.steps {
        let _ = writeln!(out, "{} {}", sign(step), label(step));
        for difference in step.differences() {
            let _ = writeln!(out, "    {}", clean(&line(step, difference)));
        }
        if let Step::Delete { existing: Existing { kind: Kind::Destination, .. } } = step {
            let _ = writeln!(out, "    its pending deliveries become dead letters");
        }
    }
    if plan.steps.is_empty() {
        out.push_str("No changes.\n");
    } else {
        let _ = writeln!(out, "{}", counts(plan));
    }
    if !plan.unmanaged.is_empty() {
        out.push_str("Not in the file, left unchanged:\n");
        for object in &plan.unmanaged {
            let _ = writeln!(out, "  {} {}", object.kind.noun(), clean(&object.name));
        }
    }
    out
}

/// A plan for a program.
pub(super) fn json(plan: &Plan) -> Value {
    let changes = plan.steps.iter().map(|step| {
        let fields: Vec<Value> = step.differences().iter().map(difference_json).collect();
        json!({ "action": action(step), "kind": word(step.kind()), "name": step.name(), "fields": fields })
    });
    let unmanaged = plan.unmanaged.iter();
    let unmanaged = unmanaged.map(|object| json!({ "kind": word(object.kind), "name": object.name }));
    json!({ "changes": changes.collect::<Vec<_>>(), "unmanaged": unmanaged.collect::<Vec<_>>() })
}

/// What is shown this once.
pub(super) fn made_text(Made { kind, name, what, text }: &Made) -> String {
    let (name, text) = (clean(name), clean(text));
    format!("The {} of the {} {name}, shown only once: {text}\n", what.replace('_', " "), kind.noun())
}

/// What was done.
pub(super) fn applied_text(plan: &Plan, applied: &Applied) -> String {
    let mut out = String::new();
    for step in &plan.steps[..applied.done] {
        let _ = writeln!(out, "{} {}", done(step), label(step));
    }
    out
}

/// What an apply left undone.
pub(super) fn undone(plan: &Plan, applied: &Applied) -> String {
    let mut out = String::new();
    for step in &plan.steps[applied.done..] {
        let _ = write!(out, "\n  not done: {} {}", action(step), label(step));
    }
    out
}

/// What was done, for a program.
pub(super) fn applied_json(plan: &Plan, applied: &Applied) -> Value {
    let made = applied.made.iter();
    let made = made.map(|made| json!({ "kind": word(made.kind), "name": made.name, made.what: made.text }));
    let mut out = json(plan);
    out["applied"] = applied.done.into();
    out["made"] = made.collect();
    if let Some(error) = &applied.stopped {
        out["error"] = format!("{error:#}").into();
    }
    out
}

pub(super) fn label(step: &Step) -> String {
    format!("{} {}", step.kind().noun(), clean(step.name()))
}

fn line(step: &Step, difference: &Difference) -> String {
    match (difference, step) {
        (Difference::Secret(secret), _) => {
            format!("{}: (secret, set from env {})", secret.field, secret.variable)
        }
        (Difference::Setting { field, after, .. }, Step::Create { .. }) => format!("{field}: {after}"),
        (Difference::Setting { field, before, after }, _) => {
            let shown = |value: &Value| if value.is_null() { "(none)".to_owned() } else { value.to_string() };
            format!("{field}: {} → {}", shown(before), shown(after))
        }
    }
}

fn difference_json(difference: &Difference) -> Value {
    match difference {
        Difference::Secret(secret) => json!({ "field": secret.field, "secret_from_env": secret.variable }),
        Difference::Setting { field, before, after } => {
            json!({ "field": field, "before": before, "after": after })
        }
    }
}

fn counts(plan: &Plan) -> String {
    let count = |wanted: &str| plan.steps.iter().filter(|step| action(step) == wanted).count();
    format!("{} to create, {} to change, {} to delete.", count("create"), count("change"), count("delete"))
}

const fn action(step: &Step) -> &'static str {
    match step {
        Step::Create { .. } => "create",
        Step::Change { .. } => "change",
        Step::Delete { .. } => "delete",
    }
}

const fn sign(step: &Step) -> char {
    match step {
        Step::Create { .. } => '+',
        Step::Change { .. } => '~',
        Step::Delete { .. } => '-',
    }
}

const fn done(step: &Step) -> &'static str {
    match step {
        Step::Create { .. } => "created",
        Step::Change { .. } => "changed",
        Step::Delete { .. } => "deleted",
    }
}

/// A kind in one word.
fn word(kind: Kind) -> String {
    kind.noun().to_lowercase().replace(' ', "_")
}
