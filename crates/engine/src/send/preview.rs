//! What would be sent to a destination, for whoever wants to look before anything is.

use super::fixed_headers::REDACTED;
use super::request::build;
use super::target::Target;
use crate::clock::Clock;
use bytes::Bytes;
use postrider_core::id::EventId;
use postrider_store::{EventContent, Headers};

/// A request that is not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The URL that would be posted to.
    pub url: String,
    /// Secrets redacted.
    pub headers: Headers,
    /// The first of its bytes.
    pub body: Bytes,
    /// How many bytes there are.
    pub body_bytes: usize,
}

/// The first attempt as it would be. It is not signed for the caller to see: a key to the API must not be a way to
/// sign what it likes.
pub(crate) fn preview(
    target: &Target,
    content: &EventContent,
    event: EventId,
    clock: Clock,
    shown_bytes_max: usize,
) -> Result<Preview, String> {
    let unusable = |why: &String| format!("the destination's settings cannot be used: {why}");
    let ready = target.ready.as_ref().map_err(unusable)?;
    let request = build(ready, content, event, 1, clock);
    let unsigned = |(name, value)| (name, if str::contains(name, "signature") { REDACTED } else { value });
    let headers = request.shown.iter().map(unsigned).collect();
    // Copied, since a part of the bytes would keep all of them.
    let body = Bytes::copy_from_slice(&content.body[..content.body.len().min(shown_bytes_max)]);
    Ok(Preview { url: ready.url.whole.to_string(), headers, body, body_bytes: content.body.len() })
}
