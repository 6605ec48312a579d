//! A receiver by HTTP/2 that sends frames without end is cut off, in an exchange and between two of them.

use crate::gateway::{Gateway, Setup};
use crate::http2_refusals::{GO_AWAY, HEADERS, SETTINGS, STATUS_200, WHOLE, frame, next_request};
use crate::tls_receiver::{Authority, trusting};
use crate::wait::wait_until;
use postrider_core::destination::TimeoutSeconds;
use postrider_core::outcome::Outcome;
use postrider_store::ErrorKind;
use rustls::server::WebPkiClientVerifier;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

const DATA: u8 = 0;
const PRIORITY: u8 = 2;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const UNKNOWN: u8 = 0x42;
const END_HEADERS: u8 = 4;
/// `:status: 103`, its name from the static table.
const STATUS_103: [u8; 5] = [0x08, 3, b'1', b'0', b'3'];

/// Far more than an answer takes, and little enough to be over soon.
const FRAMES_MAX: usize = 1_000_000;
/// What is in the buffers of two sockets when it is cut off.
const TAKEN_MAX: usize = 24 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    BeforeTheAnswer,
    BehindTheAnswer,
}

struct Flood {
    when: When,
    /// Once, before it.
    first: Vec<u8>,
    unit: Vec<u8>,
}

#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    taken: AtomicUsize,
    /// Floods that the gateway put an end to.
    cut: AtomicUsize,
}

/// Floods its first connection, and answers all others as it should.
async fn serve(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    flood: Option<Flood>,
    seen: Arc<Seen>,
) -> Option<()> {
    let mut stream = acceptor.accept(stream).await.ok()?;
    let mut preface = [0; 24];
    stream.read_exact(&mut preface).await.ok()?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.ok()?;
    loop {
        let id = next_request(&mut stream).await?;
        let answer = frame(HEADERS, WHOLE, id, &STATUS_200);
        let Some(Flood { when, first, unit }) = &flood else {
            stream.write_all(&answer).await.ok()?;
            continue;
        };
        if *when == When::BehindTheAnswer {
            stream.write_all(&answer).await.ok()?;
        }
        stream.write_all(first).await.ok()?;
        let units = unit.repeat(1000);
        for _ in 0..FRAMES_MAX / 1000 {
            if stream.write_all(&units).await.is_err() {
                seen.cut.fetch_add(1, Ordering::SeqCst);
                return None;
            }
            seen.taken.fetch_add(units.len(), Ordering::SeqCst);
        }
        stream.write_all(&answer).await.ok()?;
    }
}

async fn start(flood: Flood) -> (Gateway, String, Arc<Seen>) {
    let authority = Authority::new("trusted");
    let identity = authority.sign("localhost", |_| {});
    let acceptor = identity.acceptor(&["h2"], WebPkiClientVerifier::no_client_auth());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    let seen = Arc::new(Seen::default());
    let counted = Arc::clone(&seen);
    tokio::spawn(async move {
        let mut flood = Some(flood);
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            counted.connections.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(serve(acceptor.clone(), stream, flood.take(), Arc::clone(&counted)));
        }
    });
    (Setup { tls: trusting(&[authority.root()]), ..Setup::default() }.start().await, url, seen)
}

/// Frames that say nothing to the first request.
fn floods() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("window updates", frame(WINDOW_UPDATE, 0, 0, &1u32.to_be_bytes())),
        ("priorities", frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 16])),
        ("settings", frame(SETTINGS, 0, 0, &[])),
        ("pings", frame(PING, 0, 0, &[7; 8])),
        ("unknown frames", frame(UNKNOWN, 0, 0, &[])),
        ("farewells", frame(GO_AWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0])),
    ]
}

#[tokio::test]
async fn an_exchange_of_endless_frames_ends() {
    let (hints, data) = (frame(HEADERS, END_HEADERS, 1, &STATUS_103), frame(DATA, 0, 1, &[]));
    let begun = frame(HEADERS, END_HEADERS, 1, &STATUS_200);
    let (ours, hyper_s) = (ErrorKind::BadResponse, ErrorKind::Disconnected);
    let before = floods().into_iter().map(|(name, unit)| (name, Vec::new(), unit, ours));
    // The last one hyper puts an end to by itself.
    let of_the_answer = [("early hints", Vec::new(), hints, ours), ("empty data", begun, data, hyper_s)];
    for (name, first, unit, expected) in before.chain(of_the_answer) {
        let (gateway, url, seen) = start(Flood { when: When::BeforeTheAnswer, first, unit }).await;
        let mut destination = gateway.destination(&url);
        destination.timeout = TimeoutSeconds::new(60).unwrap();
        gateway.route("**", &destination).await;
        let attempt = gateway.attempt(gateway.accept("{}").await).await;
        let kind = attempt.problem.map(|problem| problem.kind);
        assert_eq!((attempt.outcome, kind), (Outcome::NetworkError, Some(expected)), "{name}");
        wait_until("it is cut off", async || (seen.cut.load(Ordering::SeqCst) == 1).then_some(())).await;
        let taken = seen.taken.load(Ordering::SeqCst);
        assert!(taken < TAKEN_MAX, "{name}: {taken} bytes were taken");
        gateway.delivered_at_once(gateway.accept("{}").await).await;
        assert_eq!(seen.connections.load(Ordering::SeqCst), 2, "{name}: over another connection");
    }
}

#[tokio::test]
async fn an_idle_connection_of_endless_frames_is_closed() {
    for (name, unit) in floods() {
        let (gateway, url, seen) =
            start(Flood { when: When::BehindTheAnswer, first: Vec::new(), unit }).await;
        gateway.deliver_to(&url).await;
        gateway.delivered_at_once(gateway.accept("{}").await).await;
        wait_until("it is cut off", async || (seen.cut.load(Ordering::SeqCst) == 1).then_some(())).await;
        let taken = seen.taken.load(Ordering::SeqCst);
        assert!(taken < TAKEN_MAX, "{name}: {taken} bytes were taken");
        gateway.delivered_at_once(gateway.accept("{}").await).await;
        assert_eq!(seen.connections.load(Ordering::SeqCst), 2, "{name}: over another connection");
    }
}
