//! One HTTP exchange: request out, status, headers and a bounded part of the body in.

use super::connect::Connector;
use super::connection::{Connection, Failed};
use super::http1::Head;
use super::pool::Pool;
use super::request::Request;
use super::shortage::Failure;
use super::target::{Ready, Target};
use bytes::BytesMut;
use postrider_store::{Headers, Problem, Timing};
use std::time::Instant;

/// What is known of an exchange so far. It stays readable when the deadline cuts the exchange short.
pub(crate) struct Trace {
    started: Instant,
    pub(crate) status: Option<u16>,
    pub(crate) response_headers: Headers,
    pub(crate) response_body: BytesMut,
    pub(crate) retry_after: Option<Vec<u8>>,
    /// The answer is whole, though the request may not be.
    pub(crate) is_answered: bool,
    pub(crate) timing: Timing,
}

impl Trace {
    pub(crate) fn start() -> Self {
        Trace {
            started: Instant::now(),
            status: None,
            response_headers: Headers::default(),
            response_body: BytesMut::new(),
            retry_after: None,
            is_answered: false,
            timing: Timing::default(),
        }
    }

    /// The head of the answer is there.
    pub(crate) fn hear(&mut self, head: Head) {
        self.timing.first_byte = Some(self.started.elapsed());
        self.status = Some(head.status);
        self.response_headers = head.headers;
        self.retry_after = head.retry_after;
    }

    pub(crate) fn end(&mut self) {
        self.timing.total = self.started.elapsed();
    }
}

/// Sends a request and reads the answer into `trace`. `Ok` when a whole answer came, whatever its status.
///
/// Over an idle connection or a new one. One that the receiver closed while it was idle costs nothing: the request is
/// sent once more, over a new one. It may have left already when the close was heard; if it was taken all the same, the
/// second is a duplicate of a broken exchange, as that of any retry would be.
pub(crate) async fn exchange(
    connector: &Connector,
    pool: &Pool,
    target: &Target,
    ready: &Ready,
    mut request: impl FnMut() -> Result<Request, Problem>,
    trace: &mut Trace,
) -> Result<(), Failure> {
    let keep = |connection: Connection, stays_open: bool| {
        if stays_open {
            pool.put(ready.pool_key, connection, target.max_concurrency as usize);
        }
        Ok(())
    };
    if let Some(mut idle) = pool.take(ready.pool_key) {
        let doubted = pool.doubt(ready.pool_key);
        match idle.exchange(ready, request()?, trace).await {
            Ok(stays_open) => {
                doubted.dispel();
                return keep(idle, stays_open);
            }
            Err(Failed { was_closed: true, .. }) => {}
            Err(Failed { failure, .. }) => return Err(failure),
        }
    }
    // In a box, since it is rarely needed and large: every attempt would carry its room around.
    let left = target.timeout.saturating_sub(trace.started.elapsed());
    let mut connection = Box::pin(connector.connect(ready, left, &mut trace.timing)).await?;
    let stays_open = connection.exchange(ready, request()?, trace).await.map_err(|failed| failed.failure)?;
    keep(connection, stays_open)
}
