//! A receiver by HTTP/2 that ends a connection says which requests it has done nothing with.

use crate::gateway::{Gateway, Setup};
use crate::tls_receiver::{Authority, trusting};
use postrider_core::destination::TimeoutSeconds;
use postrider_core::outcome::Outcome;
use rustls::server::WebPkiClientVerifier;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

pub(crate) const HEADERS: u8 = 1;
const RESET: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const GO_AWAY: u8 = 7;
/// END_STREAM and END_HEADERS.
pub(crate) const WHOLE: u8 = 5;
/// `:status: 200` of the static table.
pub(crate) const STATUS_200: [u8; 1] = [0x88];

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u32;
    [&length.to_be_bytes()[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The streams of requests, one after the other.
pub(crate) async fn next_request(stream: &mut TlsStream<TcpStream>) -> Option<u32> {
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.ok()?;
        let [a, b, c, kind, flags, id @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        stream.read_exact(&mut payload).await.ok()?;
        match kind {
            HEADERS => return Some(u32::from_be_bytes(id)),
            SETTINGS if flags == 0 => stream.write_all(&frame(SETTINGS, 1, 0, &[])).await.ok()?,
            _ => {}
        }
    }
}

/// Answers with 200, but for the second request of its first connection.
async fn serve(acceptor: TlsAcceptor, stream: TcpStream, second: Option<Vec<u8>>) -> Option<()> {
    let mut stream = acceptor.accept(stream).await.ok()?;
    let mut preface = [0; 24];
    stream.read_exact(&mut preface).await.ok()?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.ok()?;
    let mut seen = 0;
    loop {
        let id = next_request(&mut stream).await?;
        seen += 1;
        match &second {
            Some(refusal) if seen == 2 => stream.write_all(refusal).await.ok()?,
            _ => stream.write_all(&frame(HEADERS, WHOLE, id, &STATUS_200)).await.ok()?,
        }
    }
}

/// A gateway with a receiver that meets its second request so, and how many connections there were.
async fn start(second: Vec<u8>) -> (Gateway, String, Arc<AtomicUsize>) {
    let authority = Authority::new("trusted");
    let identity = authority.sign("localhost", |_| {});
    let acceptor = identity.acceptor(&["h2"], WebPkiClientVerifier::no_client_auth());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        let mut second = Some(second);
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(serve(acceptor.clone(), stream, second.take()));
        }
    });
    (Setup { tls: trusting(&[authority.root()]), ..Setup::default() }.start().await, url, connections)
}

async fn check(refusal: Vec<u8>) {
    let (gateway, url, connections) = start(refusal).await;
    gateway.deliver_to(&url).await;
    for _ in 0..3 {
        let event = gateway.accept("{}").await;
        gateway.delivered_at_once(event).await;
    }
    assert_eq!(connections.load(Ordering::SeqCst), 2, "one more for what was refused");
}

#[tokio::test]
async fn what_a_receiver_leaves_when_it_goes_away_is_sent_again_at_once() {
    // The last stream it takes care of is the first; no error.
    check(frame(GO_AWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0])).await;
}

#[tokio::test]
async fn a_stream_that_is_refused_is_sent_again_at_once() {
    check(frame(RESET, 0, 3, &7u32.to_be_bytes())).await;
}

#[tokio::test]
async fn a_connection_over_which_nothing_comes_is_used_no_more() {
    let (gateway, url, connections) = start(Vec::new()).await;
    let mut destination = gateway.deliver_to(&url).await;
    destination.timeout = TimeoutSeconds::new(1).unwrap();
    gateway.put(&destination).await;
    gateway.delivered_at_once(gateway.accept("{}").await).await;
    let silence = gateway.attempt(gateway.accept("{}").await).await;
    assert_eq!(silence.outcome, Outcome::Timeout);
    gateway.delivered_at_once(gateway.accept("{}").await).await;
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}
