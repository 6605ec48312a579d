//! One keep-alive connection of the load, and what an answer means to it.

use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::http::uri::PathAndQuery;
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;

/// The load asks again soon even where a real sender would be told to stay away for seconds: it has to get
/// rid of all its events, and the refusals are counted.
const RETRY_WAIT_MAX: Duration = Duration::from_millis(50);

/// What came of one request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Accepted,
    /// 429 or 503: the same event may be sent again after this long.
    Refused {
        wait: Duration,
        told: Told,
    },
    Failed(StatusCode),
}

/// What a refusal tells its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// `Retry-After`, and a body with a `code`.
    WhenAndWhy,
    TooLittle,
}

pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    host: HeaderValue,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("connect to {address}"))?;
        stream.set_nodelay(true).context("set TCP_NODELAY")?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.context("HTTP handshake")?;
        // Ends when the sender is dropped or the server closes; the next request then says why.
        tokio::spawn(connection);
        let host = HeaderValue::from_str(&address.to_string()).context("an address as a header")?;
        Ok(Connection { sender, host })
    }

    pub(crate) async fn post(&mut self, path: &PathAndQuery, body: Bytes) -> anyhow::Result<Answer> {
        self.sender.ready().await.context("the connection was closed")?;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = Uri::from(path.clone());
        request.headers_mut().insert(HOST, self.host.clone());
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let response = self.sender.send_request(request).await.context("no answer")?;
        let (head, body) = response.into_parts();
        let body = body.collect().await.context("the answer broke off")?.to_bytes();
        Ok(meaning(head.status, &head.headers, &body))
    }
}

fn meaning(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Answer {
    match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            Answer::Refused { wait: retry_wait(headers), told: told(headers, body) }
        }
        _ if status.is_success() => Answer::Accepted,
        _ => Answer::Failed(status),
    }
}

fn told(headers: &HeaderMap, body: &[u8]) -> Told {
    let body: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    match headers.contains_key(RETRY_AFTER) && body["code"].is_string() {
        true => Told::WhenAndWhy,
        false => Told::TooLittle,
    }
}

fn retry_wait(headers: &HeaderMap) -> Duration {
    let seconds = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    // Without a number the longest wait: zero would make the refused load spin.
    seconds.map_or(RETRY_WAIT_MAX, Duration::from_secs).clamp(Duration::from_millis(1), RETRY_WAIT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16, retry_after: Option<&'static str>, body: &str) -> Answer {
        let mut headers = HeaderMap::new();
        if let Some(value) = retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
        }
        meaning(StatusCode::from_u16(status).expect("a legal status"), &headers, body.as_bytes())
    }

    #[test]
    fn only_429_and_503_ask_for_the_event_again_and_never_for_long() {
        let (short, long) = (Duration::from_millis(1), RETRY_WAIT_MAX);
        let refused = |wait| Answer::Refused { wait, told: Told::TooLittle };
        let cases = [
            (202, None, Answer::Accepted),
            (200, None, Answer::Accepted),
            (429, Some("0"), refused(short)),
            (429, Some("30"), refused(long)),
            (503, None, refused(long)),
            (503, Some("Fri, 31 Dec 2027 23:59:59 GMT"), refused(long)),
            (500, None, Answer::Failed(StatusCode::INTERNAL_SERVER_ERROR)),
            (404, None, Answer::Failed(StatusCode::NOT_FOUND)),
        ];
        for (status, retry_after, expected) in cases {
            assert_eq!(answered(status, retry_after, ""), expected, "{status} {retry_after:?}");
        }
    }

    #[test]
    fn a_refusal_tells_enough_with_a_time_and_a_code() {
        let cases = [
            (Some("1"), r#"{"error":"x","code":"overloaded"}"#, Told::WhenAndWhy),
            (None, r#"{"error":"x","code":"overloaded"}"#, Told::TooLittle),
            (Some("1"), r#"{"error":"x"}"#, Told::TooLittle),
            (Some("1"), "busy", Told::TooLittle),
        ];
        for (retry_after, body, expected) in cases {
            let Answer::Refused { told, .. } = answered(503, retry_after, body) else { panic!("no refusal") };
            assert_eq!(told, expected, "{retry_after:?} {body}");
        }
    }
}
