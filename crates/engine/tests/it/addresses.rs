//! Addresses that are closed: refused in the dial itself, so that nobody there notices anything.

use crate::gateway::{Gateway, Setup};
use crate::receiver::{OK, Receiver};
use postrider_core::outcome::Outcome;
use postrider_engine::send::AddressGuard;
use postrider_store::{Attempt, ErrorKind};

async fn attempt_at(gateway: &Gateway, url: &str) -> Attempt {
    gateway.deliver_to(url).await;
    let event = gateway.accept("{}").await;
    let detail = gateway.attempted(event, 1).await;
    detail.attempts.into_iter().next_back().unwrap()
}

#[tokio::test]
async fn this_machine_is_closed_under_all_its_names() {
    let receiver = Receiver::answering([OK]).await;
    for host in [
        "127.0.0.1",
        "localhost",
        "0.0.0.0",
        "[::]",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "127.1",
    ] {
        let gateway = Setup { guard: AddressGuard::default(), ..Setup::default() }.start().await;
        let attempt = attempt_at(&gateway, &format!("http://{host}:{}/", receiver.port())).await;
        let problem = attempt.problem.unwrap();
        let found = (attempt.outcome, problem.kind, attempt.status);
        assert_eq!(found, (Outcome::NetworkError, ErrorKind::AddressRefused, None), "{host}: {problem}");
        assert!(problem.sentence.contains("--egress-allow"), "{problem}");
        assert_eq!(attempt.timing.connect, None);
    }
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn what_an_operator_opens_is_dialled_also_by_name() {
    let receiver = Receiver::answering([OK]).await;
    let gateway =
        Setup { guard: AddressGuard::new(vec!["127.0.0.1/32".parse().unwrap()]), ..Setup::default() };
    let gateway = gateway.start().await;
    let attempt = attempt_at(&gateway, &format!("http://localhost:{}/", receiver.port())).await;
    assert_eq!(attempt.outcome, Outcome::Success, "{:?}", attempt.problem);
    assert!(attempt.timing.dns.is_some());
    assert_eq!(receiver.requests()[0].one("host"), format!("localhost:{}", receiver.port()));
}

#[tokio::test]
async fn a_host_that_is_not_there_is_told_apart_from_one_that_does_not_listen() {
    let gateway = Gateway::start().await;
    // Names under .invalid never resolve (RFC 6761).
    let attempt = attempt_at(&gateway, "http://nowhere.invalid/").await;
    assert_eq!(attempt.problem.unwrap().kind, ErrorKind::Dns);

    // A port that was free a moment ago.
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    drop(socket);
    let gateway = Gateway::start().await;
    let attempt = attempt_at(&gateway, &format!("http://{address}/")).await;
    assert_eq!(attempt.problem.unwrap().kind, ErrorKind::Connect);
}
