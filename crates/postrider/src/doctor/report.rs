//! What a look came to, for a person or for a program.

use super::finding::{Finding, Severity};
use super::{Snapshot, diagnose};
use crate::terminal::{clean, counted, json, say};
use serde_json::json as value;
use std::fmt::Write;

pub(super) struct Report {
    findings: Vec<Finding>,
    /// What is owed; `None` when the gateway could not be looked at.
    pending: Option<u64>,
    /// What was owed at the look before.
    before: Option<u64>,
}

impl Report {
    pub(super) fn of(seen: &Snapshot, before: Option<&Snapshot>) -> Self {
        Report {
            findings: diagnose(seen),
            pending: Some(seen.pending),
            before: before.map(|before| before.pending),
        }
    }

    /// Of a look that failed.
    pub(super) fn of_no_look(error: &anyhow::Error) -> Self {
        let sentence = format!("The gateway could not be examined: {error:#}.");
        let finding = Finding::new(Severity::Critical, "no_look", sentence)
            .next("systemctl status postrider   # whether it runs");
        Report { findings: vec![finding], pending: None, before: None }
    }

    pub(super) fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    fn trend(&self) -> Option<&'static str> {
        Some(match self.pending?.cmp(&self.before?) {
            std::cmp::Ordering::Less => "shrinking",
            std::cmp::Ordering::Equal => "steady",
            std::cmp::Ordering::Greater => "growing",
        })
    }

    pub(super) fn say(&self) -> anyhow::Result<()> {
        let mut text = match self.pending {
            Some(pending) => format!("{} pending", counted(pending, "delivery")),
            None => "the backlog is unknown".to_owned(),
        };
        if let (Some(before), Some(trend)) = (self.before, self.trend()) {
            let _ = write!(text, ", {before} at the last check: {trend}");
        }
        text.push('\n');
        if self.findings.is_empty() {
            text.push_str("no problems found\n");
        }
        for finding in &self.findings {
            let (severity, code) = (finding.severity.as_str(), finding.code);
            let _ = writeln!(text, "\n{severity}: {} ({code})", clean(&finding.sentence));
            for next in &finding.next {
                let _ = writeln!(text, "  {}", clean(next));
            }
        }
        say(&text)
    }

    /// One line, so that a watcher can be read line by line.
    pub(super) fn say_json(&self) -> anyhow::Result<()> {
        let severity = self.severity().map_or("ok", Severity::as_str);
        let findings: Vec<_> = self.findings.iter().map(Finding::json).collect();
        let report = value!({
            "severity": severity,
            "pending": self.pending,
            "pending_before": self.before,
            "trend": self.trend(),
            "findings": findings,
        });
        say(&format!("{}\n", json(&report.to_string())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_is_what_became_of_what_was_owed() {
        let seen = |pending| Snapshot { pending, ..Snapshot::default() };
        let trend = |before, now| Report::of(&seen(now), Some(&seen(before))).trend();
        assert_eq!([trend(9, 3), trend(3, 3), trend(3, 9)], ["shrinking", "steady", "growing"].map(Some));
        assert_eq!(Report::of(&seen(3), None).trend(), None);
    }
}
