//! Every expression that the documentation shows is legal for the place it is shown for.

use postrider_core::priority_rule::PriorityRule;
use postrider_engine::{Expression, Wants};
use postrider_store::codec::rules_from_json;

const EXPRESSIONS: &str = include_str!("../../../../docs/expressions.md");
const RULES: &str = include_str!("../../../../docs/priorities-and-order.md");

/// The lines of all blocks with this label.
fn blocks(page: &'static str, label: &str) -> Vec<&'static str> {
    let begin = format!("```{label}\n");
    page.split(&begin).skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

fn check(text: &str, wants: Wants) {
    Expression::compile(text, wants).unwrap_or_else(|bad| panic!("{text}: {bad}"));
}

#[test]
fn the_expressions_of_the_page_are_legal() {
    for (label, wants, least) in [
        ("cel filter", Wants::Bool, 6),
        ("cel value", Wants::Priority, 2),
        ("cel ordering_key", Wants::Key, 2),
    ] {
        let lines: Vec<&str> = blocks(EXPRESSIONS, label).into_iter().flat_map(str::lines).collect();
        assert!(lines.len() >= least, "the page has examples for {label}");
        lines.into_iter().for_each(|text| check(text, wants));
    }
}

#[test]
fn the_rules_of_the_page_are_legal_and_of_every_form() {
    let [text] = blocks(RULES, "json")[..] else { panic!("one list of rules is shown") };
    let rules = rules_from_json(&serde_json::from_str(text).unwrap()).unwrap();
    for rule in &rules {
        match rule {
            PriorityRule::When { when, .. } => check(when, Wants::Bool),
            PriorityRule::Value { value } => check(value, Wants::Priority),
            _ => {}
        }
    }
    let mut forms: Vec<_> = rules.iter().map(std::mem::discriminant).collect();
    forms.dedup();
    assert_eq!(forms.len(), 6);
}
