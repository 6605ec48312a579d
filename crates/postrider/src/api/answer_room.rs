//! Room for answers: how many bytes of them wait at once for clients that read slowly. A client may take its time, and
//! may have a thousand connections.

use super::body_room::Held;
use super::error::ApiError;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::AUTHORIZATION;
use http_body_util::BodyExt;
use postrider_core::limits::ANSWER_UNCOUNTED_BYTES_MAX;
use std::hash::{DefaultHasher, Hash, Hasher};

/// An answer with the room that it takes, until the last byte of it is written.
struct Kept {
    answer: Bytes,
    _held: Held,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.answer
    }
}

/// These bytes, which take this room until they are written.
pub(super) fn kept(answer: Bytes, held: Held) -> Bytes {
    Bytes::from_owner(Kept { answer, _held: held })
}

/// What is made while it is read, as an export, has no size, and takes room by itself.
pub(super) async fn keep(request: Request, next: Next) -> Response {
    let mut asker = DefaultHasher::new();
    request.headers().get(AUTHORIZATION).hash(&mut asker);
    let (head, body) = next.run(request).await.into_parts();
    match body.size_hint().exact() {
        Some(bytes) if bytes > ANSWER_UNCOUNTED_BYTES_MAX as u64 => {
            let held = Held::for_answer(asker.finish(), bytes as usize);
            let Ok(held) = held else { return ApiError::unread().into_response() };
            let Ok(answer) = body.collect().await else { return ApiError::unread().into_response() };
            Response::from_parts(head, Body::from(kept(answer.to_bytes(), held)))
        }
        _ => Response::from_parts(head, body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::middleware::from_fn;
    use axum::routing::get;
    use http::StatusCode;
    use postrider_core::limits::BODIES_PER_ACCOUNT_BYTES_MAX;
    use tower::ServiceExt;

    async fn ask(key: &str, bytes: usize) -> Response {
        let answer = move || async move { "x".repeat(bytes) };
        let router = Router::new().route("/", get(answer)).layer(from_fn(keep));
        let request = Request::get("/").header(AUTHORIZATION, key).body(Body::empty()).unwrap();
        router.oneshot(request).await.unwrap()
    }

    #[tokio::test]
    async fn an_answer_takes_room_until_it_is_read_and_leaves_some_for_others() {
        let most = BODIES_PER_ACCOUNT_BYTES_MAX / 2 + 1;
        let unread = ask("one", most).await;
        assert_eq!(ask("one", most).await.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(ask("one", 1000).await.status(), StatusCode::OK, "a small one has room");
        assert_eq!(ask("other", most).await.status(), StatusCode::OK);
        // As a connection has it that has not written it all.
        let written = unread.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(ask("one", most).await.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(written.len(), most);
        drop(written);
        assert_eq!(ask("one", most).await.status(), StatusCode::OK);
    }
}
