//! Which events are meant, from the parameters of a list.

use super::App;
use super::auth::Caller;
use super::error::ApiError;
use postrider_core::id::{AccountId, DestinationId, SourceId};
use postrider_core::limits::SEARCH_TEXT_BYTES_MAX;
use postrider_core::pattern::EventPattern;
use postrider_core::time::Timestamp;
use postrider_store::{Direction, EventFilter};
use std::collections::HashMap;

/// What a list of events may have among its parameters, but for `status`, of which deliveries have another kind.
pub(crate) const PARAMETERS: [&str; 9] = [
    "account_id",
    "event_type",
    "source_id",
    "destination_id",
    "direction",
    "since",
    "until",
    "external_event_id",
    "text",
];

const TIME: &str = "must be a time in RFC 3339, such as 2026-01-31T12:00:00Z";

/// The filter that the parameters say. What a list does not take it has refused before.
pub(crate) fn of_query(parameters: &HashMap<String, String>) -> Result<EventFilter, ApiError> {
    let read = Reading(parameters);
    let (since, until) = between(parameters)?;
    let filter = EventFilter {
        event_type: read.event_type()?,
        // Events outlive their source and their destinations, so one that is deleted may still be asked for.
        source: read
            .field("source_id", "must be the id of a source, src_…", |text| SourceId::parse(text).ok())?,
        destination: read.field("destination_id", "must be the id of a destination, dst_…", |text| {
            DestinationId::parse(text).ok()
        })?,
        direction: read.field("direction", "must be inbound or outbound", Direction::from_word)?,
        since,
        until,
        external_id: parameters.get("external_event_id").cloned(),
        text: read.text()?,
        ..EventFilter::default()
    };
    Ok(filter)
}

/// Whose events are meant: the caller's, or with an admin key those of the account that is named.
pub(crate) fn account(
    app: &App,
    caller: Caller,
    parameters: &HashMap<String, String>,
) -> Result<AccountId, ApiError> {
    let Some(text) = parameters.get("account_id") else { return Ok(caller.account) };
    let allowed = "must be the id of an account, acc_…";
    let asked = AccountId::parse(text).map_err(|_| ApiError::field("account_id", allowed))?;
    let may = asked == caller.account || caller.is_admin() && app.engine.catalog().account(asked).is_some();
    if may { Ok(asked) } else { Err(ApiError::not_found("account")) }
}

/// The times that a list begins and ends at.
pub(crate) fn between(
    parameters: &HashMap<String, String>,
) -> Result<(Option<Timestamp>, Option<Timestamp>), ApiError> {
    let read = Reading(parameters);
    let since = read.field("since", TIME, Timestamp::parse_rfc3339)?;
    let until = read.field("until", TIME, Timestamp::parse_rfc3339)?;
    match (since, until) {
        (Some(since), Some(until)) if since >= until => Err(ApiError::field("since", "must be before until")),
        times => Ok(times),
    }
}

struct Reading<'a>(&'a HashMap<String, String>);

impl Reading<'_> {
    fn field<T>(
        &self,
        name: &str,
        allowed: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = self.0.get(name) else { return Ok(None) };
        parse(text).map(Some).ok_or_else(|| ApiError::field(name, allowed))
    }

    fn event_type(&self) -> Result<Option<EventPattern>, ApiError> {
        let Some(text) = self.0.get("event_type") else { return Ok(None) };
        EventPattern::parse(text).map(Some).map_err(|allowed| ApiError::field("event_type", allowed))
    }

    fn text(&self) -> Result<Option<String>, ApiError> {
        let allowed = format!("must be 1 to {SEARCH_TEXT_BYTES_MAX} bytes");
        let legal = |text: &str| (1..=SEARCH_TEXT_BYTES_MAX).contains(&text.len()).then(|| text.to_owned());
        self.field("text", &allowed, legal)
    }
}
