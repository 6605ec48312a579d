//! How it went: whether anything was lost, whether the healthy destination noticed the others, whether the one that is
//! down was left alone.

use super::healthy::Healthy;
use super::losses::Losses;
use super::site::HEALTHY;
use crate::chaos::Report;
use crate::command::text;
use crate::terminal::{clean, counted};
use anyhow::ensure;
use postrider_store::DeliveryAudit;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

pub(super) struct Figures {
    accepted: usize,
    refused: u64,
    lost: Losses,
    /// Accepted events that did not reach the healthy destination in the time that they were given.
    late: u64,
    duplicates: u64,
    invalid_signatures: u64,
    /// Deliveries by status, over all destinations.
    by_status: Map<String, Value>,
    healthy: Healthy,
    circuit_opened: bool,
    destinations: Vec<Value>,
}

/// How it ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Course {
    /// After all of its time.
    Whole,
    /// By somebody who had seen enough, perhaps before there was anything to compare.
    CutShort,
}

/// All that was seen by the end.
pub(super) struct Observed<'a> {
    pub(super) accepted: usize,
    pub(super) refused: u64,
    pub(super) healthy: Healthy,
    pub(super) circuit_opened: bool,
    pub(super) report: &'a Report,
    pub(super) destinations: &'a [Value],
    pub(super) stats: &'a Value,
    /// Of the store that the gateway has left.
    pub(super) audit: &'a DeliveryAudit,
}

impl Figures {
    pub(super) fn of(observed: &Observed<'_>) -> Figures {
        let Observed { accepted, refused, healthy, circuit_opened, report, destinations, stats, audit } =
            *observed;
        let seen = &report.json()["paths"][HEALTHY];
        let count = |value: &Value| value.as_u64().unwrap_or_default();
        let duplicates = count(&seen["duplicates"]);
        let arrived = report.succeeded(HEALTHY).saturating_sub(duplicates);
        let by_status = crate::command::items(&stats["by_status"]).iter();
        Figures {
            accepted,
            refused,
            lost: Losses::of(accepted, audit, report.succeeded_in_all()),
            late: (accepted as u64).saturating_sub(arrived),
            duplicates,
            invalid_signatures: count(&seen["signatures"]["invalid"]),
            by_status: by_status.map(|one| (text(&one["status"]).to_owned(), one["count"].clone())).collect(),
            healthy,
            circuit_opened,
            destinations: destinations.to_vec(),
        }
    }

    pub(super) fn json(&self) -> Value {
        let shown = |one: &Value| json!({ "name": one["name"], "circuit_state": one["circuit_state"], "pending": one["pending"] });
        json!({
            "accepted": self.accepted,
            "refused": self.refused,
            "lost": self.lost.total(),
            "not_arrived_at_healthy": self.late,
            "duplicates": self.duplicates,
            "invalid_signatures": self.invalid_signatures,
            "healthy_p99_ms": self.healthy.json(),
            "healthy_unaffected": self.healthy.is_unaffected(),
            "circuit_of_down_opened": self.circuit_opened,
            "deliveries": self.by_status,
            "destinations": self.destinations.iter().map(shown).collect::<Vec<_>>(),
        })
    }

    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        let (accepted, duplicates) =
            (counted(self.accepted as u64, "event"), counted(self.duplicates, "duplicate"));
        let (refused, lost) = (self.refused, self.lost.total());
        let _ = writeln!(out, "{accepted} accepted, {refused} refused; {lost} lost, {duplicates}");
        let _ = writeln!(out, "{}", self.healthy.text());
        let opened = if self.circuit_opened { "opened, so nothing is sent to it" } else { "did not open" };
        let _ = writeln!(out, "down: its circuit {opened}");
        for one in &self.destinations {
            let _ = writeln!(out, "  {:<8}  {} pending", clean(text(&one["name"])), one["pending"]);
        }
        out
    }

    /// What it was to show. Of one that was cut short only what holds at any moment.
    pub(super) fn verdict(&self, course: Course) -> anyhow::Result<()> {
        ensure!(self.lost.total() == 0, "something was lost: {}", self.lost.text());
        ensure!(self.duplicates == 0, "{} arrived twice", counted(self.duplicates, "event"));
        let wrong = self.invalid_signatures;
        ensure!(wrong == 0, "{} did not hold", counted(wrong, "signature"));
        if course == Course::CutShort {
            return Ok(());
        }
        let late = counted(self.late, "event");
        ensure!(self.late == 0, "{late} did not reach the healthy destination");
        ensure!(self.healthy.is_unaffected() == Some(true), "{}", self.healthy.text());
        ensure!(self.circuit_opened, "the circuit of the destination that is down did not open");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As it should be.
    fn fine() -> Figures {
        Figures {
            accepted: 10,
            refused: 0,
            lost: Losses::of(10, &DeliveryAudit { events: 10, ..DeliveryAudit::default() }, 0),
            late: 0,
            duplicates: 0,
            invalid_signatures: 0,
            by_status: Map::new(),
            healthy: Healthy::of(vec![1.0], vec![1.0]),
            circuit_opened: true,
            destinations: Vec::new(),
        }
    }

    #[test]
    fn the_verdict_is_about_all_that_was_to_be_shown() {
        let affected = Healthy::of(vec![1.0], vec![60_000.0]);
        let too_little = Healthy::of(vec![1.0], Vec::new());
        for (figures, whole, cut_short) in [
            (fine(), true, true),
            (Figures { lost: Losses::of(11, &DeliveryAudit::default(), 0), ..fine() }, false, false),
            (Figures { late: 1, ..fine() }, false, true),
            (Figures { duplicates: 1, ..fine() }, false, false),
            (Figures { invalid_signatures: 1, ..fine() }, false, false),
            (Figures { healthy: affected, ..fine() }, false, true),
            (Figures { healthy: too_little, ..fine() }, false, true),
            (Figures { circuit_opened: false, ..fine() }, false, true),
        ] {
            let verdict = [Course::Whole, Course::CutShort].map(|course| figures.verdict(course).is_ok());
            assert_eq!(verdict, [whole, cut_short], "{}", figures.text());
        }
    }
}
