//! Names with several addresses, some of which swallow whatever is sent to them.

use super::super::target::Target;
use super::*;
use async_trait::async_trait;
use postrider_core::id::{AccountId, DestinationId};
use rustix::io::Errno;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket};

const LEFT: Duration = Duration::from_secs(12);

/// Knows one host, and how often it was asked for.
struct Known {
    addresses: Vec<IpAddr>,
    asked: Arc<AtomicUsize>,
}

#[async_trait]
impl Resolve for Known {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(self.addresses.clone())
    }
}

/// A connector to a host with these addresses, what it is to connect to, and how often the host was asked for.
fn connector(addresses: &[[u8; 4]], port: u16) -> (Connector, Target, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let addresses = addresses.iter().map(|address| IpAddr::from(*address)).collect();
    let guard = AddressGuard::new(vec!["127.0.0.0/8".parse().unwrap()]);
    let known = Known { addresses, asked: Arc::clone(&asked) };
    let connector = Connector::new(guard, tls_config()).resolving_by(Arc::new(known));
    let url = DestinationUrl::parse(&format!("http://receiver.test:{port}/")).unwrap();
    (connector, Target::elsewhere(AccountId::from_u64(1), DestinationId::from_u64(1), url), asked)
}

/// Whether a connection came about, how long it took, and how often the host was asked for after one more try.
async fn connect(addresses: &[[u8; 4]], port: u16) -> (Result<(), ErrorKind>, Duration, usize) {
    let (connector, target, asked) = connector(addresses, port);
    let ready = target.ready.as_ref().unwrap();
    let started = tokio::time::Instant::now();
    let mut timing = Timing::default();
    let tried = tokio::time::timeout(LEFT, connector.connect(ready, LEFT, &mut timing)).await;
    let took = started.elapsed();
    let _ = tokio::time::timeout(LEFT, connector.connect(ready, LEFT, &mut timing)).await;
    let reached = match tried {
        Err(_elapsed) => Err(ErrorKind::Timeout),
        Ok(Err(failure)) => Err(failure.problem().kind),
        Ok(Ok(_)) => Ok(()),
    };
    (reached, took, asked.load(Ordering::SeqCst))
}

/// A port of this address that takes no more connections and refuses none, as long as what is given back is kept.
fn black_hole(address: [u8; 4], port: u16) -> (u16, Vec<std::net::TcpStream>, TcpListener) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(address.into(), port)).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let waiting = Duration::from_millis(100);
    // Nobody accepts them, so that after a few the rest is left waiting.
    let filling = std::iter::from_fn(|| std::net::TcpStream::connect_timeout(&address, waiting).ok());
    let filling = filling.take(16).collect();
    (address.port(), filling, listener)
}

/// A connection for which the kernel has no memory.
struct NoBuffers;

impl AsyncRead for NoBuffers {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

impl AsyncWrite for NoBuffers {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(Errno::NOBUFS.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(Errno::NOBUFS.into()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_handshake_over_http2_that_finds_no_memory_is_no_failure_of_the_receiver() {
    let made = Http2::new(NoBuffers, Allowance::new()).await;
    let failure = made.err().map(|error| broken_handshake(&error));
    assert!(matches!(failure, Some(Failure::Shortage(Shortage::Memory))), "{failure:?}");
}

#[tokio::test(start_paused = true)]
async fn an_address_that_swallows_everything_leaves_time_for_the_next() {
    let (first, second, third) = ([127, 0, 0, 1], [127, 0, 0, 2], [127, 0, 0, 3]);
    let (port, _full, _hole) = black_hole(first, 0);
    let (_, _also_full, _other_hole) = black_hole(second, port);
    let _receiver = TcpListener::bind(SocketAddr::new(third.into(), port)).await.unwrap();
    let whole_seconds = |(reached, took, asked): (_, Duration, _)| (reached, took.as_secs(), asked);
    for (addresses, expected) in [
        (vec![third], (Ok(()), 0, 1)),
        (vec![first, third], (Ok(()), 6, 1)),
        // A third of twelve seconds, and half of the eight that are left.
        (vec![first, second, third], (Ok(()), 8, 1)),
        // Closed ones take nothing of the time.
        (vec![[10, 0, 0, 1], first, third, [10, 0, 0, 2]], (Ok(()), 6, 1)),
        (vec![first], (Err(ErrorKind::Timeout), 12, 2)),
        (vec![first, second], (Err(ErrorKind::Timeout), 12, 2)),
        (vec![first, [127, 0, 0, 4]], (Err(ErrorKind::Connect), 6, 2)),
        (vec![[10, 0, 0, 1]], (Err(ErrorKind::Dns), 6, 2)),
    ] {
        assert_eq!(whole_seconds(connect(&addresses, port).await), expected, "{addresses:?}");
    }
}

/// Name servers of a network that has names of its own: the name says what they answer, and after how many milliseconds.
struct Inside;

#[async_trait]
impl Resolve for Inside {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let (what, after) = host.split('.').next().and_then(|label| label.split_once('-')).unwrap();
        tokio::time::sleep(Duration::from_millis(after.parse().unwrap())).await;
        match what {
            "absent" => Err(io::Error::other("there is no such name")),
            "empty" => Ok(vec![]),
            _ => Ok(vec![[10, 0, 0, 1].into(), [192, 168, 0, 1].into()]),
        }
    }
}

/// All that a tenant is shown of an attempt at this host, which is not named in it.
async fn shown_of(connector: &Connector, host: &str) -> (Problem, Timing, Duration) {
    let url = DestinationUrl::parse(&format!("http://{host}/")).unwrap();
    let target = Target::elsewhere(AccountId::from_u64(1), DestinationId::from_u64(1), url);
    let (began, mut timing) = (tokio::time::Instant::now(), Timing::default());
    let failed = connector.connect(target.ready.as_ref().unwrap(), LEFT, &mut timing).await;
    let mut problem = failed.err().expect("it is refused").problem();
    problem.sentence = problem.sentence.replace(host, "HOST");
    (problem, timing, began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn nothing_that_is_shown_of_a_refused_name_tells_whether_it_exists() {
    let connector = Connector::new(AddressGuard::default(), tls_config()).resolving_by(Arc::new(Inside));
    let expected = shown_of(&connector, "absent-0.corp").await;
    assert_eq!((expected.0.kind, expected.1), (ErrorKind::Dns, Timing::default()));
    for host in [
        "inside-0.corp",
        "inside-0.corp",
        "inside-30.corp",
        "inside-2000.corp",
        "inside-9000.corp",
        "inside-0.localhost",
        "absent-0.corp",
        "absent-30.corp",
        "absent-4000.corp",
        "absent-60000.corp",
        "empty-5.corp",
    ] {
        assert_eq!(shown_of(&connector, host).await, expected, "{host}");
    }
}
