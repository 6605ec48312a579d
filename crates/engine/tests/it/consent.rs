//! A receiver that must agree first is sent nothing before it has.

use crate::gateway::Gateway;
use crate::receiver::{OK, Receiver};
use crate::wait::wait_until;
use http::HeaderValue;
use postrider_engine::{ChangeError, ConsentError, TrialError};
use postrider_store::{Destination, Handshake};

const ORIGIN: HeaderValue = HeaderValue::from_static("hooks.example.com");
const NO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const YES: &[u8] = b"HTTP/1.1 405 Not Allowed\r\nWebHook-Allowed-Origin: hooks.example.com\r\nWebHook-Allowed-Rate: 6000\r\nContent-Length: 0\r\n\r\n";

#[tokio::test]
async fn deliveries_wait_until_the_receiver_has_agreed() {
    let receiver = Receiver::answering([NO, YES, OK]).await;
    let gateway = Gateway::start().await;
    let mut destination = gateway.destination(&(receiver.url() + "?x=1"));
    destination.handshake = Handshake::Wanted;
    gateway.route("**", &destination).await;
    let event = gateway.accept("{}").await;
    let ask =
        async || gateway.engine.shake_hands(destination.account, destination.id, &ORIGIN).await.unwrap();

    let refused = ask().await;
    assert_eq!(refused.handshake, Handshake::Wanted);
    assert!(refused.disabled_reason.unwrap().contains("WebHook-Allowed-Origin"));
    let view = wait_until("it is owed", async || {
        let view = gateway.activity().await.destinations.get(&destination.id).copied()?;
        (view.pending.rows == 1).then_some(view)
    })
    .await;
    assert_eq!(view.why.as_str(), "paused");

    let granted = ask().await;
    assert_eq!((granted.handshake, granted.disabled_reason), (Handshake::Granted, None));
    assert_eq!(granted.rate_limit.unwrap().per_second(), 100.0);
    gateway.delivered_at_once(event).await;
    let requests = receiver.requests();
    assert_eq!(requests.len(), 3);
    for asked in &requests[..2] {
        assert_eq!(asked.line, "OPTIONS /hook?x=1 HTTP/1.1");
        assert_eq!(asked.one("webhook-request-origin"), "hooks.example.com");
        assert_eq!(asked.all("webhook-signature"), [""; 0]);
    }
    assert!(requests[2].line.starts_with("POST "));
}

#[tokio::test]
async fn a_receiver_that_cannot_be_asked_has_not_agreed() {
    let gateway = Gateway::start().await;
    let closed = Receiver::start(|peer| async move { peer.reset() }).await;
    let mut destination = gateway.destination(&closed.url());
    destination.handshake = Handshake::Granted;
    gateway.put(&destination).await;
    let ask = async |of: &Destination| gateway.engine.shake_hands(of.account, of.id, &ORIGIN).await;
    let answer = ask(&destination).await.unwrap();
    assert_eq!(answer.handshake, Handshake::Wanted);
    assert!(answer.disabled_reason.unwrap().starts_with("The receiver could not be asked"));
    let refused = gateway.engine.try_out(destination.account, destination.id, trial()).await.unwrap_err();
    assert_eq!(refused, TrialError::NoConsent);

    let plain = gateway.destination(&closed.url());
    let unknown = ask(&plain).await.unwrap_err();
    assert!(matches!(unknown, ChangeError::Refused(ConsentError::Unknown)), "{unknown:?}");
    gateway.put(&plain).await;
    let unasked = ask(&plain).await.unwrap_err();
    assert!(matches!(unasked, ChangeError::Refused(ConsentError::NotWanted)), "{unasked:?}");
}

fn trial() -> postrider_engine::Trial {
    let event_type = postrider_core::event::EventType::parse("t").unwrap();
    postrider_engine::Trial { event_type, body: bytes::Bytes::new(), content_type: "text/plain" }
}
