//! What it costs when names are not found, not found in time, or have a thousand addresses: `names.c`.

use super::{check_cost, given_up_for};
use crate::rig::{Site, preload};
use serde_json::json;

/// Sends events to a name of which the resolver knows what the name says; they are given up on for this.
fn check_name(name: &str, why: &str) {
    let site = Site::new().variable("LD_PRELOAD", preload::library("faults/resources/names.c"));
    check_cost(&site, &format!("http://{name}:7070/"), &json!({}), b"{}", given_up_for(why));
}

#[test]
fn names_that_are_not_found_cost_no_more() {
    check_name("fails.test", "The host fails.test was not found");
}

#[test]
fn names_that_are_not_answered_for_cost_no_more() {
    check_name("late.test", "No whole answer within 1 s");
}

#[test]
fn names_of_a_thousand_addresses_cost_no_more() {
    check_name("many.test", "refused");
}
