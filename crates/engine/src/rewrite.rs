//! The event as the transform of its route has it sent. A pure function of the two, so that every retry sends the
//! same bytes as long as the route is the same; nothing of it is stored.

use crate::expression::{Facts, Failure, NewBody, Transform};
use crate::send::passed_on;
use http::HeaderValue;
use postrider_core::limits::EVENT_HEADER_BYTES_MAX;
use postrider_store::{EventContent, Headers};

/// What tells of the bytes of the old body and would be wrong of the new.
const OF_THE_BODY: [&str; 5] = ["content-encoding", "content-md5", "content-digest", "repr-digest", "digest"];

/// Headers that a transform sets or, with `None`, takes away.
type Set = Vec<(String, Option<String>)>;

/// What is sent in the place of an event.
pub(crate) fn rewritten(
    transform: &Transform,
    content: &EventContent,
    facts: &Facts<'_>,
) -> Result<EventContent, Failure> {
    let message = transform.apply(facts)?;
    let mut set = checked(message.headers)?;
    let body = match message.body {
        None => content.body.clone(),
        Some(body) => {
            set.extend(
                OF_THE_BODY
                    .iter()
                    .filter(|name| !names(&set, name))
                    .map(|name| ((*name).into(), None))
                    .collect::<Set>(),
            );
            match body {
                NewBody::Plain(bytes) => bytes.into(),
                NewBody::Json(bytes) => {
                    if !names(&set, "content-type") {
                        set.push(("content-type".into(), Some("application/json".into())));
                    }
                    bytes.into()
                }
            }
        }
    };
    let mut headers = Headers::with_capacity(512);
    content
        .headers
        .iter()
        .filter(|(name, _)| !names(&set, name))
        .for_each(|(name, value)| headers.push(name, value));
    set.iter().for_each(|(name, value)| {
        if let Some(value) = value {
            headers.push(name, value);
        }
    });
    Ok(EventContent { headers, body, ..content.clone() })
}

fn names(set: &Set, name: &str) -> bool {
    set.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// The same rules as for what senders and destinations set: legal, not ours, and not without end.
fn checked(headers: Set) -> Result<Set, Failure> {
    let mut bytes = 0;
    for (name, value) in &headers {
        passed_on(name).map_err(|refused| Failure::header(name, refused))?;
        let value = value.as_deref().unwrap_or_default();
        HeaderValue::try_from(value)
            .map_err(|_| Failure::header(name, "its value does not fit into a header"))?;
        bytes += name.len() + value.len();
    }
    if bytes > EVENT_HEADER_BYTES_MAX {
        return Err(Failure::new(format!("it gives more than {EVENT_HEADER_BYTES_MAX} bytes of headers")));
    }
    Ok(headers)
}

#[cfg(test)]
mod tests;
