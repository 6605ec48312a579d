//! TLS: nothing is said to a receiver that cannot prove its name, and the protocol is the receiver's choice.

use crate::gateway::{Gateway, Setup};
use crate::tls_receiver::{Authority, Identity, TlsReceiver, TlsRequest, trusting};
use crate::wait::wait_until;
use http::Version;
use postrider_core::outcome::Outcome;
use postrider_store::{Attempt, ErrorKind};
use rcgen::date_time_ymd;

async fn gateway_trusting(authority: &Authority) -> Gateway {
    Setup { tls: trusting(&[authority.root()]), ..Setup::default() }.start().await
}

async fn attempt_at(gateway: &Gateway, receiver: &TlsReceiver) -> Attempt {
    gateway.deliver_to(&format!("https://localhost:{}/hook?x=1", receiver.port())).await;
    let event = gateway.accept("{}").await;
    gateway.attempt(event).await
}

/// Delivers to a receiver that offers these protocols.
async fn delivered_over(protocols: &[&str]) -> (TlsRequest, TlsReceiver, Gateway) {
    let authority = Authority::new("trusted");
    let receiver = TlsReceiver::start(authority.sign("localhost", |_| {}), protocols).await;
    let gateway = gateway_trusting(&authority).await;
    let attempt = attempt_at(&gateway, &receiver).await;
    assert_eq!(attempt.outcome, Outcome::Success, "{:?}", attempt.problem);
    assert!(attempt.timing.tls.is_some());
    let request = receiver.requests().remove(0);
    assert_eq!(
        (&request.body[..], request.uri.path_and_query().unwrap().as_str()),
        (&b"{}"[..], "/hook?x=1")
    );
    assert!(request.headers.contains_key("webhook-signature"));
    (request, receiver, gateway)
}

#[tokio::test]
async fn a_certificate_that_proves_nothing_gets_no_byte_of_a_request() {
    let (trusted, unknown) = (Authority::new("trusted"), Authority::new("unknown"));
    let expired = trusted.sign("localhost", |params| {
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    });
    for (what, identity) in [
        ("self-signed", Identity::self_signed("localhost")),
        ("of an unknown authority", unknown.sign("localhost", |_| {})),
        ("of another host", trusted.sign("example.com", |_| {})),
        ("expired", expired),
    ] {
        let receiver = TlsReceiver::start(identity, &["h2", "http/1.1"]).await;
        let gateway = gateway_trusting(&trusted).await;
        let attempt = attempt_at(&gateway, &receiver).await;
        let found = (attempt.outcome, attempt.problem.unwrap().kind, attempt.status);
        assert_eq!(found, (Outcome::NetworkError, ErrorKind::Tls, None), "{what}");
        wait_until("the handshake is broken off", async || (receiver.refused() > 0).then_some(())).await;
        assert_eq!((receiver.connections(), receiver.requests().len()), (1, 0), "{what}");
    }
}

#[tokio::test]
async fn a_trusted_receiver_is_delivered_to_over_http_1() {
    for protocols in [&["http/1.1"][..], &[]] {
        let (request, ..) = delivered_over(protocols).await;
        assert_eq!(request.version, Version::HTTP_11);
    }
}

#[tokio::test]
async fn a_receiver_that_offers_http_2_gets_it_and_one_connection_serves_all() {
    let (request, receiver, gateway) = delivered_over(&["h2", "http/1.1"]).await;
    assert_eq!(request.version, Version::HTTP_2);
    let mut events = Vec::new();
    for n in 0..20 {
        events.push(gateway.accept(format!("{n}")).await);
    }
    for event in events {
        gateway.delivered_at_once(event).await;
    }
    assert_eq!((receiver.requests().len(), receiver.connections()), (21, 1));
}

#[tokio::test]
async fn a_request_over_http_2_names_its_scheme_and_authority() {
    let (request, receiver, _gateway) = delivered_over(&["h2"]).await;
    // RFC 9113, 8.3.1: servers refuse a scheme that is not the connection's.
    assert_eq!(request.uri.scheme_str(), Some("https"));
    let authority = request.uri.authority().map(ToString::to_string);
    assert_eq!(authority, Some(format!("localhost:{}", receiver.port())));
}
