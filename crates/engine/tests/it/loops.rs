//! Circles: an event carries how many gateways it has been through, and the gateway never dials itself.

use crate::gateway::{Gateway, Setup, arrival};
use crate::receiver::{OK, Receiver};
use postrider_engine::send::AddressGuard;
use postrider_engine::{Arrival, storable_headers};
use postrider_store::ErrorKind;

#[tokio::test]
async fn a_delivery_has_been_through_one_gateway_more_than_its_event() {
    let receiver = Receiver::answering([OK]).await;
    let gateway = Gateway::start().await;
    gateway.deliver_to(&receiver.url()).await;
    for (sent, expected) in [(None, "1"), (Some("1"), "2"), (Some("5"), "6"), (Some("nonsense"), "1")] {
        let own = sent.iter().map(|hops| ("Postrider-Hops", hops.as_bytes()));
        let event = Arrival { headers: storable_headers(own), ..arrival("{}") };
        let event = gateway.ingest(&event).await.unwrap().id;
        gateway.delivered_at_once(event).await;
        assert_eq!(receiver.requests().last().unwrap().one("postrider-hops"), expected, "{sent:?}");
    }
}

#[tokio::test]
async fn the_gateway_s_own_address_is_refused_although_its_range_is_open() {
    let own = Receiver::answering([OK]).await;
    for listening in ["127.0.0.1", "0.0.0.0", "[::]"] {
        let guard = AddressGuard::new(vec!["127.0.0.0/8".parse().unwrap()]);
        let guard = guard.listening_on(format!("{listening}:{}", own.port()).parse().unwrap());
        let gateway = Setup { guard, ..Setup::default() }.start().await;
        for host in ["127.0.0.1", "localhost"] {
            let destination = gateway.destination(&format!("http://{host}:{}/", own.port()));
            gateway.put(&destination).await;
            let problem = gateway.try_out(&destination).await.problem.unwrap();
            assert_eq!(problem.kind, ErrorKind::AddressRefused, "{problem}");
        }
        let other = Receiver::answering([OK]).await;
        let destination = gateway.destination(&other.url());
        gateway.put(&destination).await;
        assert_eq!(gateway.try_out(&destination).await.status, Some(200));
    }
    assert_eq!(own.connections(), 0);
}

#[tokio::test]
async fn plain_http_is_not_dialled_where_https_alone_is_allowed() {
    let receiver = Receiver::answering([OK]).await;
    let guard = AddressGuard::new(vec!["127.0.0.0/8".parse().unwrap()]).https_only();
    let gateway = Setup { guard, ..Setup::default() }.start().await;
    let destination = gateway.destination(&receiver.url());
    gateway.put(&destination).await;
    let problem = gateway.try_out(&destination).await.problem.unwrap();
    assert_eq!(problem.kind, ErrorKind::AddressRefused);
    assert!(problem.sentence.contains("--https-only"), "{problem}");
    assert_eq!(receiver.connections(), 0);
}
