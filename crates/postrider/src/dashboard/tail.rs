//! The live tail: what happens, as it happens. The page reads the stream of the API as whoever is signed in.

use super::Shared;
use super::answer::{Frame, Refused, shown};
use super::asked::Asked;
use super::choices::{self, Named};
use super::guard::Visitor;
use super::inside::{Inside, Listed};
use super::session::Session;
use super::sessions::now;
use super::{Desk, show};
use askama::Template;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::response::Response;
use futures_util::StreamExt;
use http::HeaderMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// Looked at so often whether the session of a stream is over.
const LOOKED_AT_EVERY: Duration = Duration::from_secs(1);

const FILTERS: &[&str] = &["kind", "event_type", "source_id", "destination_id"];

const KINDS: [&str; 5] = ["accepted", "attempt", "dead_letter", "circuit", "destination"];

#[derive(Template)]
#[template(path = "tail.html")]
struct Tail {
    frame: Frame,
    asked: Asked,
    destinations: Listed<Named>,
}

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(&session, look(&desk.api, &session, asked).await)
}

async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<Tail, Refused> {
    let list = "/v1/destinations";
    let mut destinations = choices::of(api, session, list).await?;
    choices::keep(api, session, list, &mut destinations, asked.text("destination_id")).await;
    Ok(Tail { frame: Frame::of(Some(session), "events"), asked, destinations })
}

impl Tail {
    fn stream(&self) -> String {
        self.asked.path("/tail/stream", FILTERS)
    }
}

/// Server-sent events of the API. One that is refused is answered with a page, which no reader of events takes.
pub(super) async fn stream(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Response {
    let begun = desk.api.stream(&session, &asked.path("/v1/stream", FILTERS), &headers).await;
    match begun {
        Ok(answer) => ending(answer, over(desk, session)),
        Err(refused) => refused.page(Some(&session)),
    }
}

/// The stream for as long as the session lasts: the API looks at its key alone, which lasts longer.
fn ending(answer: Response, over: impl Future<Output = ()> + Send + 'static) -> Response {
    answer.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(over))))
}

/// Until a session is over, by itself or because somebody has ended it.
async fn over(desk: Arc<Desk>, session: Session) {
    while desk.sessions.goes_on(&session).await {
        sleep(session.left(now()).min(LOOKED_AT_EVERY)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use futures_util::stream;
    use http_body_util::BodyExt;
    use std::convert::Infallible;
    use tokio::time::{Instant, timeout};

    #[tokio::test(start_paused = true)]
    async fn a_tail_ends_with_its_session() {
        let told = stream::once(async { Ok::<_, Infallible>(Bytes::from_static(b"data: 1\n\n")) });
        let endless = Body::from_stream(told.chain(stream::pending()));
        let (hour, began) = (Duration::from_secs(3600), Instant::now());
        let over = async move { drop(timeout(hour, std::future::pending::<()>()).await) };
        let all = ending(Response::new(endless), over).into_body().collect();
        let all = timeout(2 * hour, all).await.expect("it ends").unwrap().to_bytes();
        assert_eq!((all.as_ref(), began.elapsed()), (&b"data: 1\n\n"[..], hour));
    }
}
