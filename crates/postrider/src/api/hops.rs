//! An event that goes in a circle of gateways ends at whichever door it comes back to: the count is looked at there, and
//! stays with the event.

use super::error::ApiError;
use http::HeaderMap;
use postrider_engine::Arrival;
use postrider_engine::send::{HOPS_HEADER, HOPS_MAX, hops};

/// How many gateways a request has been through, unless they are too many: it would go round for ever.
pub(super) fn passed(headers: &HeaderMap) -> Result<u32, ApiError> {
    limited(hops(headers.get_all(HOPS_HEADER).iter().map(|value| value.as_bytes())))
}

/// The event with the count of the request that it came by. A sender that makes a new event of one that it was sent
/// may give the count among the event's own headers.
pub(super) fn kept(mut arrival: Arrival, passed: u32) -> Result<Arrival, ApiError> {
    let named = arrival.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(HOPS_HEADER));
    let own = limited(hops(named.map(|(_, value)| value.as_bytes())))?;
    if passed > own {
        arrival.headers.push(HOPS_HEADER, &passed.to_string());
    }
    Ok(arrival)
}

fn limited(passed: u32) -> Result<u32, ApiError> {
    if passed > HOPS_MAX { Err(ApiError::loop_detected(passed)) } else { Ok(passed) }
}
