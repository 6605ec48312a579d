//! How it went: whether anything was lost, whether the healthy destination noticed the others, whether the one that is
//! down was left alone.

use super::load::Sent;
use super::stage::HEALTHY;
use crate::chaos::Report;
use crate::command::text;
use crate::terminal::clean;
use anyhow::ensure;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::time::Instant;

pub(super) struct Figures {
    accepted: usize,
    refused: u64,
    /// Events that did not reach the healthy destination.
    lost: usize,
    duplicates: u64,
    invalid_signatures: u64,
    /// Deliveries by status, over all destinations.
    by_status: Map<String, Value>,
    /// To the healthy destination, in milliseconds: alone, and beside the other four.
    p99_alone_ms: f64,
    p99_together_ms: f64,
    circuit_opened: bool,
    destinations: Vec<Value>,
}

/// All that was seen by the end.
pub(super) struct Observed<'a> {
    pub(super) sent: &'a Sent,
    pub(super) refused: u64,
    /// Since when the healthy destination was not alone.
    pub(super) joined_at: Option<Instant>,
    pub(super) circuit_opened: bool,
    pub(super) report: &'a Report,
    pub(super) destinations: &'a [Value],
    pub(super) stats: &'a Value,
}

impl Figures {
    pub(super) fn of(observed: &Observed<'_>) -> Figures {
        let Observed { sent, refused, joined_at, circuit_opened, report, destinations, stats } = *observed;
        let (mut alone, mut together, mut lost) = (Vec::new(), Vec::new(), 0);
        for (id, sent_at) in sent {
            let Some(arrived) = report.arrival(HEALTHY, id) else {
                lost += 1;
                continue;
            };
            let took = arrived.duration_since(*sent_at).as_secs_f64() * 1000.0;
            let is_alone = joined_at.is_none_or(|joined| *sent_at < joined);
            if is_alone { alone.push(took) } else { together.push(took) }
        }
        let seen = &report.json()["paths"][HEALTHY];
        let count = |value: &Value| value.as_u64().unwrap_or_default();
        let by_status = crate::command::items(&stats["by_status"]).iter();
        Figures {
            accepted: sent.len(),
            refused,
            lost,
            duplicates: count(&seen["duplicates"]),
            invalid_signatures: count(&seen["signatures"]["invalid"]),
            by_status: by_status.map(|one| (text(&one["status"]).to_owned(), one["count"].clone())).collect(),
            p99_alone_ms: p99(alone),
            p99_together_ms: p99(together),
            circuit_opened,
            destinations: destinations.to_vec(),
        }
    }

    pub(super) fn json(&self) -> Value {
        let shown = |one: &Value| json!({ "name": one["name"], "circuit_state": one["circuit_state"], "pending": one["pending"] });
        json!({
            "accepted": self.accepted,
            "refused": self.refused,
            "lost": self.lost,
            "duplicates": self.duplicates,
            "invalid_signatures": self.invalid_signatures,
            "healthy_p99_ms": { "alone": self.p99_alone_ms, "together": self.p99_together_ms },
            "circuit_of_down_opened": self.circuit_opened,
            "deliveries": self.by_status,
            "destinations": self.destinations.iter().map(shown).collect::<Vec<_>>(),
        })
    }

    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        let Figures { accepted, refused, lost, duplicates, .. } = self;
        let _ = writeln!(
            out,
            "{accepted} events accepted, {refused} refused; {lost} lost, {duplicates} duplicates"
        );
        let _ = writeln!(
            out,
            "healthy: p99 {} ms alone, {} ms beside one that is slow, one flaky, one hanging and one down",
            self.p99_alone_ms, self.p99_together_ms
        );
        let opened = if self.circuit_opened { "opened, so it is left alone" } else { "did not open" };
        let _ = writeln!(out, "down: its circuit {opened}");
        for one in &self.destinations {
            let _ = writeln!(out, "  {:<8}  {} owed", clean(text(&one["name"])), one["pending"]);
        }
        out
    }

    /// What the gateway promises whatever the machine; how fast it is depends on that.
    pub(super) fn verdict(&self) -> anyhow::Result<()> {
        ensure!(self.lost == 0, "{} events did not arrive at the healthy destination", self.lost);
        ensure!(self.duplicates == 0, "{} events arrived twice", self.duplicates);
        ensure!(self.invalid_signatures == 0, "{} signatures were wrong", self.invalid_signatures);
        Ok(())
    }
}

/// To a hundredth of a millisecond.
fn p99(mut took: Vec<f64>) -> f64 {
    took.sort_by(f64::total_cmp);
    let at = (took.len() * 99).div_ceil(100).saturating_sub(1);
    took.get(at).map_or(0.0, |ms| (ms * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::p99;

    #[test]
    fn the_ninety_ninth_of_a_hundred() {
        assert_eq!(p99((1..=100).map(f64::from).collect()), 99.0);
        assert_eq!(p99(vec![7.001]), 7.0);
        assert_eq!(p99(Vec::new()), 0.0);
    }
}
