//! Receivers whose certificates end soon: from that moment on nothing is sent to them.

use super::causes::CERTIFICATE;
use super::destinations::{command, named};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{DestinationSeen, Snapshot};

const HOUR_SECONDS: i64 = 3600;
const DAY_SECONDS: i64 = 24 * HOUR_SECONDS;
/// From here on there is no weekend left to do it after.
const CRITICAL_SECONDS: i64 = 3 * DAY_SECONDS;
/// Certificates that are named one by one; they come with the nearest first.
const NAMED_MAX: usize = 10;

pub(in crate::doctor) fn ending(seen: &Snapshot) -> Vec<Finding> {
    seen.certificates.iter().take(NAMED_MAX).map(|(of, left)| finding(of, *left)).collect()
}

fn finding(of: &DestinationSeen, left: i64) -> Finding {
    let severity = if left < CRITICAL_SECONDS { Severity::Critical } else { Severity::Warning };
    let when = match left {
        ..0 => "has expired".to_owned(),
        0..CRITICAL_SECONDS => format!("expires in {} h", left / HOUR_SECONDS),
        _ => format!("expires in {} days", left / DAY_SECONDS),
    };
    let sentence =
        format!("The certificate of {} {when}. Without a new one, nothing can be sent to it.", named(of));
    Finding::new(severity, "certificate_expires", sentence).next(CERTIFICATE).next(command(
        of,
        "test",
        "",
        "is there a new one?",
    ))
}
