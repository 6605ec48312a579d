//! Accounts: keys that end, and what was given up on.

use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{AccountSeen, Snapshot};
use crate::terminal::counted;

const DAY_SECONDS: i64 = 24 * 3600;
/// Deliveries given up on in an hour that are more than bad luck.
const DEATHS_MAX: u64 = 10;
/// As many are listed; there may be more.
const DEATHS_LISTED: u64 = 200;

pub(in crate::doctor) fn keys(seen: &Snapshot) -> Vec<Finding> {
    seen.accounts.iter().flat_map(keys_of).collect()
}

fn keys_of(account: &AccountSeen) -> Vec<Finding> {
    let soon = account.keys.iter().filter(|(_, left)| (0..7 * DAY_SECONDS).contains(left));
    let finding = |(name, left): &(String, i64)| {
        let severity = if *left < DAY_SECONDS { Severity::Warning } else { Severity::Note };
        let sentence = format!("The key {name:?}{} expires in {} h.", of(account), left / 3600);
        let create = format!("postrider keys create{} name=… expires_in_seconds:=…", account.as_account);
        Finding::new(severity, "key_expires", sentence).next(create)
    };
    soon.map(finding).collect()
}

pub(in crate::doctor) fn deaths(seen: &Snapshot) -> Vec<Finding> {
    let finding = |account: &AccountSeen| {
        let (count, flag) = (account.deaths_last_hour, &account.as_account);
        let (were, more) = match count {
            1 => ("was", ""),
            DEATHS_LISTED.. => ("were", " or more"),
            _ => ("were", ""),
        };
        let (counted, of) = (counted(count, "delivery"), of(account));
        let sentence = format!("{counted}{more}{of} {were} dead-lettered in the last hour.");
        let severity = if count >= DEATHS_MAX { Severity::Warning } else { Severity::Note };
        Finding::new(severity, "dead_letters", sentence)
            .next(format!("postrider dlq list --since 1h{flag}   # which, and why"))
            .next(format!("postrider dlq replay --since 1h{flag}   # replay them, once the cause is fixed"))
    };
    seen.accounts.iter().filter(|account| account.deaths_last_hour > 0).map(finding).collect()
}

/// Events that were answered with success and are sent to nobody.
pub(in crate::doctor) fn unrouted(seen: &Snapshot) -> Vec<Finding> {
    let finding = |account: &AccountSeen| {
        let flag = &account.as_account;
        let (events, of) = (counted(account.unrouted_today, "event"), of(account));
        let sentence =
            format!("{events}{of} matched no route since midnight UTC, so nothing is sent for them.");
        Finding::new(Severity::Note, "unrouted", sentence)
            .next(format!("postrider events --status accepted --since 24h{flag}   # which, and of what type"))
            .next(format!("postrider routes list{flag}   # what each matches, and whether it is active"))
    };
    seen.accounts.iter().filter(|account| account.unrouted_today > 0).map(finding).collect()
}

/// What was not looked at may not be well.
pub(in crate::doctor) fn unseen(seen: &Snapshot) -> Vec<Finding> {
    if seen.accounts_unseen == 0 {
        return Vec::new();
    }
    let (looked, all) = (seen.accounts.len(), seen.accounts.len() + seen.accounts_unseen);
    let sentence = format!("Keys and dead letters were checked for the first {looked} of {all} accounts.");
    let finding = Finding::new(Severity::Note, "accounts_unseen", sentence)
        .next("postrider doctor --account acc_…   # one of the others");
    vec![finding]
}

/// " of acc_…", as an operator needs to hear it.
fn of(account: &AccountSeen) -> String {
    account.as_account.strip_prefix(" --account").map_or_else(String::new, |id| format!(" of{id}"))
}
