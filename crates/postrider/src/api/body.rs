//! Reads a request's body whole, with a limit and a deadline. Nothing is ever truncated.

use super::App;
use super::body_room::Held;
use super::error::ApiError;
use crate::memory_budget::OverBudget;
use axum::BoxError;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use http_body_util::BodyExt;
use hyper::body::Body;
use postrider_core::id::AccountId;
use postrider_engine::IngestError;
use std::pin::pin;
use std::time::Duration;

/// 5 MB in this time is 170 kB/s.
pub(crate) const BODY_DEADLINE: Duration = Duration::from_secs(30);

/// All of a body, and the room that it takes until what is made of it is written.
pub(crate) struct Whole {
    pub(crate) bytes: Bytes,
    pub(crate) held: Held,
}

/// Why a body could not be had.
enum Unread {
    TooLarge,
    Crowded,
    Broken,
    TooSlow,
}

impl From<OverBudget> for Unread {
    fn from(_: OverBudget) -> Self {
        Unread::Crowded
    }
}

impl Unread {
    fn refused(&self, bytes_max: usize) -> ApiError {
        match self {
            Unread::TooLarge => ApiError::too_large(bytes_max),
            Unread::Crowded => IngestError::Crowded.into(),
            Unread::Broken => ApiError::broken_body(),
            Unread::TooSlow => ApiError::too_slow(),
        }
    }
}

/// Reads the body of a call that makes no event.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: impl Body<Data = Bytes, Error: Into<BoxError>>,
    bytes_max: usize,
) -> Result<Bytes, ApiError> {
    let whole = read_within(headers, body, bytes_max, Held::nothing(None)).await;
    whole.map(|whole| whole.bytes).map_err(|why| why.refused(bytes_max))
}

/// Reads what an account posts as events. For want of room it is refused as for any other, and counted so.
pub(crate) async fn read_events(
    app: &App,
    account: AccountId,
    headers: &HeaderMap,
    body: impl Body<Data = Bytes, Error: Into<BoxError>>,
    bytes_max: usize,
) -> Result<Whole, ApiError> {
    let whole = read_within(headers, body, bytes_max, Held::nothing(Some(account))).await;
    whole.map_err(|why| {
        if matches!(why, Unread::Crowded) {
            app.engine.meters().shed.note(account, &IngestError::Crowded);
        }
        why.refused(bytes_max)
    })
}

/// What a body says of its size has room before any of it is read, so that one without room is refused at once.
async fn read_within(
    headers: &HeaderMap,
    body: impl Body<Data = Bytes, Error: Into<BoxError>>,
    bytes_max: usize,
    mut held: Held,
) -> Result<Whole, Unread> {
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let announced = usize::try_from(announced.unwrap_or(0)).unwrap_or(usize::MAX);
    if announced > bytes_max {
        return Err(Unread::TooLarge);
    }
    held.grow_to(announced)?;
    let gathered = gather(body, Vec::with_capacity(announced), bytes_max, held);
    tokio::time::timeout(BODY_DEADLINE, gathered).await.unwrap_or(Err(Unread::TooSlow))
}

/// Copied out piece by piece: each is a slice of what the connection reads into and would keep all of that in memory,
/// for a chunk of one byte too.
async fn gather(
    body: impl Body<Data = Bytes, Error: Into<BoxError>>,
    mut bytes: Vec<u8>,
    bytes_max: usize,
    mut held: Held,
) -> Result<Whole, Unread> {
    let mut body = pin!(body);
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame.map_err(|_| Unread::Broken)?.into_data() else { continue };
        let needed = bytes.len() + piece.len();
        if needed > bytes_max {
            return Err(Unread::TooLarge);
        }
        if needed > bytes.capacity() {
            let capacity = needed.max(2 * bytes.capacity()).min(bytes_max);
            held.grow_to(capacity)?;
            bytes.reserve_exact(capacity - bytes.len());
        }
        bytes.extend_from_slice(&piece);
    }
    bytes.shrink_to_fit();
    Ok(Whole { bytes: bytes.into(), held })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use http_body_util::Channel;
    use tokio::time::Instant;

    /// A body that gives one byte a second, for ever.
    pub(crate) fn dripping() -> Channel<Bytes> {
        let (mut sender, body) = Channel::<Bytes>::new(1);
        let mut seconds = tokio::time::interval(Duration::from_secs(1));
        tokio::spawn(async move {
            while sender.send_data(Bytes::from_static(b"x")).await.is_ok() {
                seconds.tick().await;
            }
        });
        body
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_drips_in_has_one_deadline() {
        let began = Instant::now();
        let refused = read(&HeaderMap::new(), dripping(), 1000).await;
        assert_eq!(began.elapsed(), BODY_DEADLINE);
        assert_eq!(axum::response::IntoResponse::into_response(refused.unwrap_err()).status(), 408);
    }
}
