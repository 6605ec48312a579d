//! Destinations that fail by one cause: a name that has no address, a certificate, a credential.

use super::advice::{self, OVERWHELMED};
use super::destinations::{command, named};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{DestinationSeen, LastAttempt, Snapshot};
use std::collections::BTreeMap;

pub(super) const CERTIFICATE: &str =
    "openssl s_client -connect HOST:443 -servername HOST </dev/null | openssl x509 -noout -dates";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    Dns,
    Tls,
    Refused,
    Credentials,
    Timeout,
    Connect,
    Overwhelmed,
}

fn cause(last: &LastAttempt) -> Option<Cause> {
    match (last.error_kind.as_str(), last.status) {
        ("dns", _) => Some(Cause::Dns),
        ("tls", _) => Some(Cause::Tls),
        ("address_refused", _) => Some(Cause::Refused),
        ("timeout", _) => Some(Cause::Timeout),
        ("connect" | "disconnected", _) => Some(Cause::Connect),
        (_, Some(401 | 403)) => Some(Cause::Credentials),
        (_, Some(status)) if OVERWHELMED.contains(&status) => Some(Cause::Overwhelmed),
        _ => None,
    }
}

pub(in crate::doctor) fn common(seen: &Snapshot) -> Vec<Finding> {
    let mut by_cause: BTreeMap<Cause, Vec<&DestinationSeen>> = BTreeMap::new();
    for found in &seen.destinations {
        if let Some(cause) = found.last.as_ref().and_then(cause) {
            by_cause.entry(cause).or_default().push(found);
        }
    }
    // One that is overwhelmed is its owner's matter; several may share what is.
    by_cause.retain(|cause, of| *cause != Cause::Overwhelmed || of.len() > 1);
    by_cause.into_iter().map(|(cause, of)| finding(cause, &of)).collect()
}

fn finding(cause: Cause, of: &[&DestinationSeen]) -> Finding {
    let names: Vec<String> = of.iter().map(|found| named(found)).collect();
    let said =
        of.iter().filter_map(|found| found.last.as_ref()).map(|last| last.error_message.as_str()).next();
    let (code, what) = match cause {
        Cause::Dns => ("dns", "host names without an allowed address"),
        Cause::Tls => ("tls", "invalid TLS certificates"),
        Cause::Refused => ("address_refused", "addresses that the operator has not allowed"),
        Cause::Credentials => ("credentials", "rejected credentials (401, 403)"),
        Cause::Timeout => ("timeout", "timeouts"),
        Cause::Connect => ("connect", "failed or lost connections"),
        Cause::Overwhelmed => ("overwhelmed", "overload there, or at a shared proxy (429, 502, 503, 504)"),
    };
    let sentence = format!(
        "{} by one cause, {what}: {}. {}",
        failing(of.len()),
        names.join(", "),
        said.unwrap_or_default()
    );
    let first = of[0];
    let finding = Finding::new(Severity::Warning, code, sentence);
    match cause {
        Cause::Dns => finding.next(command(first, "show", "", "is its URL right?")).next(
            "postrider serve --egress-allow RANGE …   # only if the name is in your own network on purpose",
        ),
        Cause::Tls => finding.next(CERTIFICATE).next(command(first, "test", "", "is it valid again?")),
        Cause::Refused => finding.next("postrider serve --egress-allow RANGE …   # only if that is intended"),
        Cause::Credentials => finding.next(advice::new_credential(first)),
        Cause::Timeout => finding
            .next(command(first, "test", "", "does it respond now?"))
            .maybe(advice::circuit(first, "open", "free its slots now"))
            .maybe(advice::wait_less(first)),
        Cause::Connect => finding.next(command(first, "test", "", "is it up again?")),
        Cause::Overwhelmed => finding
            .next(command(first, "test", "", "does it respond again?"))
            .maybe(advice::give_less(first))
            .maybe(advice::circuit(first, "closed", "resume sending, slowly at first, once it does")),
    }
}

fn failing(destinations: usize) -> String {
    if destinations == 1 {
        "One destination fails".to_owned()
    } else {
        format!("{destinations} destinations fail")
    }
}
