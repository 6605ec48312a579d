//! What can be set of an account, and by whom.

use crate::api::error::ApiError;
use crate::api::fields::Fields;
use postrider_core::account::Weight;
use postrider_core::id::DestinationId;
use postrider_core::limits::{BACKLOG_AGE_SECONDS_MAX, PENDING_LIMIT_MAX, SLOTS_MAX};
use postrider_engine::Catalog;
use postrider_store::Account;

/// Who sets it.
#[derive(Clone, Copy)]
pub(super) enum Reach {
    /// The account itself.
    Tenant,
    /// The operator, whose gateway keeps events for so many days.
    Operator(u32),
}

/// A tenant cannot raise its own share.
const OPERATORS: [&str; 7] = [
    "plan",
    "retention_days",
    "weight",
    "max_in_flight",
    "max_pending",
    "max_pending_bytes",
    "max_pending_age_seconds",
];

/// Of an account that is there already: a new one has no destinations.
pub(super) fn operational_destination(
    mut into: Account,
    catalog: &Catalog,
    fields: &mut Fields,
) -> Result<Account, ApiError> {
    let field = "operational_destination_id";
    if fields.mentions(field) {
        let own = |text: &str| {
            let id = DestinationId::parse(text).ok()?;
            catalog.destination(into.id, id).map(|found| found.id)
        };
        into.operational_destination =
            fields.word(field, own, "must be the id of a destination of the account")?;
    }
    Ok(into)
}

/// `null` takes what is optional away.
pub(super) fn apply(mut into: Account, reach: Reach, fields: &mut Fields) -> Result<Account, ApiError> {
    if fields.mentions("email") {
        into.email = email(fields, "email")?;
    }
    let asked = OPERATORS.map(|field| fields.mentions(field));
    match reach {
        Reach::Operator(days_kept) => by_operator(into, asked, days_kept, fields),
        Reach::Tenant if asked.contains(&true) => {
            let sentence = format!("Only a key of scope admin changes {}.", OPERATORS.join(", "));
            Err(ApiError::forbidden(&sentence))
        }
        Reach::Tenant => Ok(into),
    }
}

fn by_operator(
    mut into: Account,
    asked: [bool; OPERATORS.len()],
    days_kept: u32,
    fields: &mut Fields,
) -> Result<Account, ApiError> {
    let small = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
    let [plan, retention, _, in_flight, pending, bytes, age] = asked;
    if plan {
        into.plan = fields.name("plan")?;
    }
    if retention {
        let days = fields.number("retention_days", |number| up_to(number, u64::from(days_kept)))?;
        into.retention_days = small(days);
    }
    into.weight = fields.number("weight", Weight::new)?.unwrap_or(into.weight);
    if in_flight {
        into.max_in_flight =
            small(fields.number("max_in_flight", |number| up_to(number, u64::from(SLOTS_MAX)))?);
    }
    if pending {
        into.max_pending = fields.number("max_pending", |number| up_to(number, PENDING_LIMIT_MAX))?;
    }
    if bytes {
        into.max_pending_bytes =
            fields.number("max_pending_bytes", |number| up_to(number, PENDING_LIMIT_MAX))?;
    }
    if age {
        let most = u64::from(BACKLOG_AGE_SECONDS_MAX);
        into.max_pending_age_seconds =
            small(fields.number("max_pending_age_seconds", |number| up_to(number, most))?);
    }
    Ok(into)
}

/// An address as far as one can tell without writing to it.
pub(crate) fn email(fields: &mut Fields, field: &'static str) -> Result<Option<String>, ApiError> {
    fields.word(field, address, "must be an email address of at most 254 characters")
}

fn address(text: &str) -> Option<String> {
    let (name, host) = text.split_once('@')?;
    let legal = !name.is_empty()
        && !host.is_empty()
        && !host.contains('@')
        && text.len() <= 254
        && !text
            .chars()
            .any(|letter| letter.is_whitespace() || letter.is_control() || "<>\"',;".contains(letter));
    legal.then(|| text.to_owned())
}

fn up_to(number: u64, most: u64) -> Result<u64, String> {
    let legal = (1..=most).contains(&number);
    legal.then_some(number).ok_or_else(|| format!("must be a whole number from 1 to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_name_and_a_host() {
        for good in ["a@b", "ops+hooks@example.com", "ä@example.com"] {
            assert!(address(good).is_some(), "{good}");
        }
        for bad in ["", "a", "@b", "a@", "a@b@c", "a b@c", "a@b\r\nbcc: c", "<a@b>", "a@b,c@d"] {
            assert!(address(bad).is_none(), "{bad}");
        }
        assert!(address(&format!("a@{}", "b".repeat(300))).is_none());
    }
}
