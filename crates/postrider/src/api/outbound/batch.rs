//! `/v1/events/batch`: many events in one request and one commit, a line of JSON each.

use super::form;
use crate::api::auth::Caller;
use crate::api::body::{self, Whole};
use crate::api::error::{ApiError, Refusal};
use crate::api::refusal::{Body, Keyed, Looped, Overloaded, Stored};
use crate::api::view::Data;
use crate::api::{Shared, hops, view};
use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::limits::{BATCH_BYTES_MAX, BATCH_LINES_MAX};
use postrider_core::time::Timestamp;
use postrider_engine::{Accepted, Arrival, IngestError};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// What became of a line.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum BatchLine {
    Taken(view::Ingested),
    Refused(Refusal),
}

/// Send many events
///
/// NDJSON: a line is an event as `POST /v1/outbound-events` takes it. The answer has what became of each, in their
/// order; all that are good are on disk, by one commit. Blank lines count for nothing.
#[utoipa::path(
    post, path = "/v1/events/batch", operation_id = "create_events", tag = "outbound events",
    request_body(content = String, content_type = "application/x-ndjson"),
    responses((status = 202, description = "What became of each line.", body = Data<Vec<BatchLine>>), Keyed, Body, Overloaded, Stored, Looped)
)]
pub(crate) async fn create(
    State(app): Shared,
    caller: Caller,
    request: Request,
) -> Result<Response, ApiError> {
    app.engine.admit(caller.account)?;
    let (head, incoming) = request.into_parts();
    let passed = hops::passed(&head.headers)?;
    let Whole { bytes, held } =
        body::read_events(&app, caller.account, &head.headers, incoming, BATCH_BYTES_MAX).await?;
    let lines = lines(&bytes, app.engine.clock().now())?;
    // Each line has its own copy of what is sent.
    drop(bytes);
    let (good, bad) = split(lines.into_iter().map(|line| hops::kept(line?, passed)));
    let (places, arrivals): (Vec<usize>, Vec<Arrival>) = good.into_iter().unzip();
    let engine = Arc::clone(&app.engine);
    let sent = async move { engine.send_all(caller.account, caller.key, arrivals).await };
    let answers = held.until(sent).await?;
    let mut all: Vec<(usize, BatchLine)> =
        bad.into_iter().map(|(place, refused)| (place, BatchLine::Refused(refused.into()))).collect();
    all.extend(places.into_iter().zip(answers.into_iter().map(shown)));
    all.sort_by_key(|(place, _)| *place);
    let all: Vec<BatchLine> = all.into_iter().map(|(_, line)| line).collect();
    Ok(view::data(StatusCode::ACCEPTED, &all))
}

type Line = Result<Arrival, ApiError>;
/// With its place among the lines.
type Placed<T> = (usize, T);

/// The lines of a batch, each read for itself.
fn lines(text: &[u8], now: Timestamp) -> Result<Vec<Line>, ApiError> {
    let lines: Vec<&[u8]> =
        text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
    if lines.is_empty() {
        return Err(ApiError::malformed("The body has no line with an event."));
    }
    if lines.len() > BATCH_LINES_MAX {
        return Err(ApiError::malformed(format!(
            "A batch has at most {BATCH_LINES_MAX} lines, this one has {}.",
            lines.len()
        )));
    }
    Ok(lines.into_iter().map(|line| form::of_json(line, None, now)).collect())
}

/// What can be sent and what cannot, each with its place.
fn split(lines: impl IntoIterator<Item = Line>) -> (Vec<Placed<Arrival>>, Vec<Placed<ApiError>>) {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for (place, line) in lines.into_iter().enumerate() {
        match line {
            Ok(arrival) => good.push((place, arrival)),
            Err(refused) => bad.push((place, refused)),
        }
    }
    (good, bad)
}

fn shown(answer: Result<Accepted, IngestError>) -> BatchLine {
    match answer {
        Ok(accepted) => BatchLine::Taken(super::shown(accepted)),
        Err(refused) => BatchLine::Refused(ApiError::from(refused).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_768_464_000_000);

    fn good(text: &str) -> Vec<bool> {
        lines(text.as_bytes(), NOW).unwrap().iter().map(Result::is_ok).collect()
    }

    const EVENT: &str = r#"{"event_type":"a.b","payload":"x"}"#;

    #[test]
    fn every_line_is_read_for_itself() {
        assert_eq!(good(EVENT), [true]);
        assert_eq!(
            good(&format!("{EVENT}\r\n\n  \n{{}}\nnot json\n[]\n{EVENT}\n")),
            [true, false, false, false, true]
        );
    }

    #[test]
    fn an_empty_and_an_endless_batch_are_refused() {
        assert!(lines(b"", NOW).is_err());
        assert!(lines(b"\n \r\n", NOW).is_err());
        let most = format!("{EVENT}\n").repeat(BATCH_LINES_MAX);
        assert_eq!(good(&most).len(), BATCH_LINES_MAX);
        assert!(lines(format!("{most}{EVENT}").as_bytes(), NOW).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = lines(&bytes, NOW);
        }

        #[test]
        fn there_is_an_answer_for_each_line_in_order(kinds in proptest::collection::vec(any::<bool>(), 1..60)) {
            let text: String = kinds.iter().map(|good| if *good { format!("{EVENT}\n") } else { "{\n".to_owned() }).collect();
            prop_assert_eq!(good(&text), kinds.clone());
            let (good, bad) = split(lines(text.as_bytes(), NOW).unwrap());
            prop_assert_eq!(good.len() + bad.len(), kinds.len());
            prop_assert!(good.iter().all(|(place, _)| kinds[*place]));
        }
    }
}
