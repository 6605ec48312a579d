//! Redirects: told, and never followed.

use crate::gateway::Gateway;
use crate::receiver::Receiver;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::outcome::Outcome;
use postrider_store::ErrorKind;

#[tokio::test]
async fn a_redirect_is_a_failure_and_nobody_is_asked_where_it_points() {
    for status in [301, 302, 303, 307, 308] {
        let canary = Receiver::answering([crate::receiver::OK]).await;
        let answer =
            format!("HTTP/1.1 {status} Moved\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", canary.url());
        let receiver = Receiver::answering([answer]).await;
        let gateway = Gateway::start().await;
        gateway.deliver_to(&receiver.url()).await;
        let events = [gateway.accept("first").await, gateway.accept("second").await];
        for event in events {
            let detail = gateway.attempted(event, 1).await;
            assert_eq!(detail.deliveries[0].status, DeliveryStatus::RetryScheduled);
            let attempt = &detail.attempts[0];
            assert_eq!((attempt.outcome, attempt.status), (Outcome::Http4xx, Some(status)));
            let problem = attempt.problem.as_ref().unwrap();
            assert_eq!(problem.kind, ErrorKind::Status);
            let sentence = format!("The receiver responded {status}; redirects are never followed.");
            assert_eq!(problem.sentence, sentence);
        }
        assert_eq!((receiver.requests().len(), canary.connections()), (2, 0));
    }
}
