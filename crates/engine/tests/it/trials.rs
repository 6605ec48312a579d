//! Tests of a destination: one event at once, beside its line, and nothing is kept of it.

use crate::gateway::Gateway;
use crate::receiver::{BROKEN, OK, Receiver};
use crate::request::assert_signed;
use bytes::Bytes;
use postrider_core::event::EventType;
use postrider_core::outcome::Outcome;
use postrider_engine::{Trial, TrialError};
use postrider_store::Destination;
use std::sync::Arc;

fn trial() -> Trial {
    let event_type = EventType::parse("order.paid").unwrap();
    Trial { event_type, body: Bytes::from_static(b"{\"a\":1}"), content_type: "application/json" }
}

#[tokio::test]
async fn a_test_is_signed_like_a_delivery_and_leaves_no_event() {
    let receiver = Receiver::answering([OK, BROKEN]).await;
    let gateway = Gateway::start().await;
    // Sent also while it is paused: the question is whether it would work.
    let destination = Destination { paused: true, ..gateway.destination(&receiver.url()) };
    gateway.put(&destination).await;
    let try_out =
        async || gateway.engine.try_out(destination.account, destination.id, trial()).await.unwrap();
    let report = try_out().await;
    assert_eq!((report.outcome, report.status), (Outcome::Success, Some(200)));
    assert_eq!(&report.response_body[..], b"ok");
    let request = receiver.requests().remove(0);
    assert_signed(&request);
    assert_eq!(request.one("webhook-id"), report.event.to_string());
    assert_eq!((request.one("x-event-type"), &request.body[..]), ("order.paid", &b"{\"a\":1}"[..]));
    assert!(gateway.engine.event(destination.account, report.event).await.unwrap().is_none());
    let broken = try_out().await;
    assert_eq!((broken.outcome, broken.status), (Outcome::Http5xx, Some(500)));
    assert!(broken.problem.is_some());
}

#[tokio::test]
async fn one_test_of_a_destination_is_made_at_a_time_and_none_of_another_s() {
    let receiver = Receiver::holding(OK).await;
    let gateway = Gateway::start().await;
    let destination = gateway.destination(&receiver.url());
    gateway.put(&destination).await;
    let (engine, account, id) = (Arc::clone(&gateway.engine), destination.account, destination.id);
    let first = tokio::spawn(async move { engine.try_out(account, id, trial()).await });
    receiver.until_requests(1).await;
    let second = gateway.engine.try_out(account, id, trial()).await.unwrap_err();
    assert_eq!(second, TrialError::UnderWay);
    receiver.release();
    assert_eq!(first.await.unwrap().unwrap().status, Some(200));
    assert_eq!(gateway.engine.try_out(account, id, trial()).await.unwrap().status, Some(200));
    let stranger = postrider_core::id::AccountId::from_u64(1);
    let foreign = gateway.engine.try_out(stranger, id, trial()).await.unwrap_err();
    assert_eq!(foreign, TrialError::Unknown);
}
