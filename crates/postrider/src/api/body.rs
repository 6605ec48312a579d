//! Reads a request's body whole, with a limit and a deadline. Nothing is ever truncated.

use super::error::ApiError;
use axum::BoxError;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body;
use std::time::Duration;

/// What a connection reads at once, at most.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// 5 MB in this time is 170 kB/s.
pub(crate) const BODY_DEADLINE: Duration = Duration::from_secs(30);

/// A small body is a slice of the connection's read buffer and would keep all of that in memory while it waits.
fn own(body: Bytes) -> Bytes {
    if body.len() <= READ_BUFFER_BYTES { Bytes::copy_from_slice(&body) } else { body }
}

pub(crate) async fn read(
    headers: &HeaderMap,
    body: impl Body<Data = Bytes, Error: Into<BoxError>>,
    bytes_max: usize,
) -> Result<Bytes, ApiError> {
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|bytes| bytes > bytes_max as u64) {
        return Err(ApiError::too_large(bytes_max));
    }
    let collected = tokio::time::timeout(BODY_DEADLINE, Limited::new(body, bytes_max).collect()).await;
    match collected {
        Ok(Ok(body)) => Ok(own(body.to_bytes())),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(ApiError::too_large(bytes_max)),
        Ok(Err(_)) => Err(ApiError::broken_body()),
        Err(_) => Err(ApiError::too_slow()),
    }
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
