//! TLS as a destination wants it: a certificate of ours, an authority of its own, and no connection that is both's.

use crate::gateway::{Gateway, Setup};
use crate::tls_receiver::{Authority, Identity, TlsReceiver, trusting};
use postrider_engine::TrialReport;
use postrider_engine::send::ClientTls;
use postrider_store::{ClientCertificate, Destination, DestinationTls, ErrorKind};
use rcgen::date_time_ymd;

fn certificate(of: &Identity) -> ClientCertificate {
    let (certificate_pem, private_key_pem) = of.pem();
    ClientCertificate { certificate_pem, private_key_pem }
}

fn showing(certificate: ClientCertificate) -> DestinationTls {
    DestinationTls { client_certificate: Some(certificate), ca_pem: None }
}

async fn sent(gateway: &Gateway, receiver: &TlsReceiver, tls: DestinationTls) -> TrialReport {
    let url = format!("https://localhost:{}/", receiver.port());
    let destination = Destination { tls, ..gateway.destination(&url) };
    gateway.put(&destination).await;
    gateway.try_out(&destination).await
}

#[tokio::test]
async fn a_receiver_that_demands_a_certificate_gets_the_destination_s_own() {
    let (servers, clients, others) =
        (Authority::new("servers"), Authority::new("clients"), Authority::new("x"));
    let receiver = TlsReceiver::start_demanding(servers.sign("localhost", |_| {}), &clients).await;
    let gateway = Setup { tls: trusting(&[servers.root()]), ..Setup::default() }.start().await;
    let known = certificate(&clients.sign("gateway", |_| {}));
    let foreign = certificate(&others.sign("gateway", |_| {}));
    assert_eq!(sent(&gateway, &receiver, showing(known.clone())).await.status, Some(200));
    // Not by the session of the one before either.
    for (what, tls) in [("none", DestinationTls::default()), ("a foreign one", showing(foreign))] {
        let report = sent(&gateway, &receiver, tls).await;
        assert_eq!(report.status, None, "{what}");
        let kind = report.problem.unwrap().kind;
        assert!(matches!(kind, ErrorKind::Tls | ErrorKind::Disconnected), "{what}: {kind:?}");
    }
    assert_eq!(sent(&gateway, &receiver, showing(known)).await.status, Some(200));
    assert_eq!(receiver.requests().len(), 2);
}

#[tokio::test]
async fn a_destination_s_authority_takes_the_place_of_the_public_ones() {
    let (public, own) = (Authority::new("public"), Authority::new("own"));
    let of_public = TlsReceiver::start(public.sign("localhost", |_| {}), &["http/1.1"]).await;
    let of_own = TlsReceiver::start(own.sign("localhost", |_| {}), &["http/1.1"]).await;
    let gateway = Setup { tls: trusting(&[public.root()]), ..Setup::default() }.start().await;
    let pinned = || DestinationTls { client_certificate: None, ca_pem: Some(own.pem()) };
    assert_eq!(sent(&gateway, &of_own, pinned()).await.status, Some(200));
    assert_eq!(sent(&gateway, &of_public, DestinationTls::default()).await.status, Some(200));
    for (receiver, tls) in [(&of_public, pinned()), (&of_own, DestinationTls::default())] {
        let report = sent(&gateway, receiver, tls).await;
        assert_eq!((report.status, report.problem.unwrap().kind), (None, ErrorKind::Tls));
    }
    assert_eq!((of_own.requests().len(), of_public.requests().len()), (1, 1));
}

#[tokio::test]
async fn a_change_of_certificate_finds_no_connection_of_the_old_one() {
    let (servers, clients) = (Authority::new("servers"), Authority::new("clients"));
    let receiver = TlsReceiver::start_demanding(servers.sign("localhost", |_| {}), &clients).await;
    let gateway = Setup { tls: trusting(&[servers.root()]), ..Setup::default() }.start().await;
    let url = format!("https://localhost:{}/", receiver.port());
    let mut destination = gateway.destination(&url);
    destination.tls = showing(certificate(&clients.sign("first", |_| {})));
    gateway.route("**", &destination).await;
    for connections in [1, 1, 2, 2] {
        if connections == 2 && receiver.connections() == 1 {
            destination.tls = showing(certificate(&clients.sign("second", |_| {})));
            gateway.put(&destination).await;
        }
        let event = gateway.accept("{}").await;
        gateway.delivered_at_once(event).await;
        assert_eq!(receiver.connections(), connections);
    }
}

#[test]
fn what_cannot_be_used_is_named_when_it_is_saved() {
    let authority = Authority::new("authority");
    let (one, two) = (authority.sign("one", |_| {}), authority.sign("two", |_| {}));
    let ((certificate, key), (_, other_key)) = (one.pem(), two.pem());
    let given = |certificate_pem: &str, private_key_pem: &str| {
        let (certificate_pem, private_key_pem) = (certificate_pem.to_owned(), private_key_pem.to_owned());
        showing(ClientCertificate { certificate_pem, private_key_pem })
    };
    let ca = |pem: &str| DestinationTls { client_certificate: None, ca_pem: Some(pem.to_owned()) };
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let many = certificate.repeat(11);
    let field = |tls: &DestinationTls| ClientTls::parse(tls).err().map(|bad| bad.to_string());
    for (tls, expected) in [
        (given("", &key), "client_certificate.certificate_pem must hold 1 to 10"),
        (given("nonsense", &key), "client_certificate.certificate_pem must hold 1 to 10"),
        (given(&many, &key), "client_certificate.certificate_pem must hold 1 to 10"),
        (given(broken, &key), "client_certificate.certificate_pem must be certificates in PEM"),
        (given(&certificate, ""), "client_certificate.private_key_pem must be a private key"),
        (given(&certificate, &certificate), "client_certificate.private_key_pem must be a private key"),
        (given(&certificate, &other_key), "client_certificate.private_key_pem does not belong"),
        (ca(""), "ca_pem must hold 1 to 100"),
        (ca(broken), "ca_pem must be certificates in PEM"),
    ] {
        let found = field(&tls).unwrap_or_default();
        assert!(found.starts_with(expected), "{found:?} is not {expected:?}");
        assert!(!found.contains("PRIVATE KEY"), "{found}");
    }
    // A chain is allowed, and so is what has expired: whoever renews it must be able to save it first.
    let expired = authority.sign("old", |params| {
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    });
    let (expired, expired_key) = expired.pem();
    let chain = certificate + &authority.pem();
    for tls in [given(&chain, &key), given(&expired, &expired_key), ca(&authority.pem().repeat(2))] {
        assert_eq!(field(&tls), None);
    }
    assert!(ClientTls::parse(&DestinationTls::default()).unwrap().is_none());
}
