//! What a receiver is sent: the event's bytes as they came, signed, and no header that is not its own.

use crate::gateway::{Gateway, SECRET, arrival};
use crate::receiver::{OK, Receiver, Request};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use postrider_core::event::EventType;
use postrider_engine::send::ID_HEADER;
use postrider_engine::{Arrival, storable_headers};
use postrider_store::{Attempt, Destination, DestinationAuth, Headers};
use sha2::{Digest, Sha256};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a sender's headers become when its event is taken in.
fn headers(of: &[(&str, &str)]) -> Headers {
    storable_headers(of.iter().map(|(name, value)| (*name, value.as_bytes())))
}

/// Delivers one event and gives what came and what was recorded of it.
async fn deliver(arrival: &Arrival, adjust: impl FnOnce(&mut Destination)) -> (Request, Attempt) {
    let receiver = Receiver::answering([OK]).await;
    let gateway = Gateway::start().await;
    let mut destination = gateway.destination(&receiver.url());
    adjust(&mut destination);
    gateway.route("**", &destination).await;
    let event = gateway.ingest(arrival).await.unwrap().id;
    gateway.delivered_at_once(event).await;
    let mut requests = receiver.requests();
    assert_eq!(requests.len(), 1);
    let request = requests.remove(0);
    assert_eq!(request.one("webhook-id"), event.to_string());
    (request, gateway.attempt(event).await)
}

/// HMAC-SHA256 by its definition (RFC 2104), so that the engine is not checked against itself.
fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    assert!(key.len() <= 64);
    let padded = |pad: u8| -> [u8; 64] { std::array::from_fn(|at| key.get(at).copied().unwrap_or(0) ^ pad) };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into()
}

pub(crate) fn assert_signed(request: &Request) {
    let key = STANDARD.decode(SECRET.strip_prefix("whsec_").unwrap()).unwrap();
    let (id, timestamp) = (request.one("webhook-id"), request.one("webhook-timestamp"));
    let message = [format!("{id}.{timestamp}.").as_bytes(), &request.body].concat();
    let expected = format!("v1,{}", STANDARD.encode(hmac_sha256(&key, &message)));
    assert_eq!(request.one("webhook-signature"), expected);
}

#[test]
fn the_check_of_signatures_knows_the_published_vector() {
    let key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
    let message = br#"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}"#;
    assert_eq!(STANDARD.encode(hmac_sha256(&key, message)), "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

#[tokio::test]
async fn an_event_arrives_byte_for_byte_and_signed() {
    let every_byte: Vec<u8> = (0..=255).collect();
    let large: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    for body in [b"{\"a\": 1 }\r\n".to_vec(), every_byte, large] {
        let (request, attempt) = deliver(&arrival(body.clone()), |to| to.url += "/a%20b?x=1&y=%2F").await;
        assert!(request.body == body, "{} bytes came of {}", request.body.len(), body.len());
        assert_eq!(request.line, "POST /hook/a%20b?x=1&y=%2F HTTP/1.1");
        assert_eq!(request.one("content-length"), body.len().to_string());
        assert_eq!(request.one("postrider-attempt"), "1");
        assert_signed(&request);
        assert_eq!((attempt.number, attempt.status, attempt.problem), (1, Some(200), None));
        assert_eq!(attempt.response_body, "ok");
    }
}

#[tokio::test]
async fn an_event_without_a_body_says_that_it_has_none() {
    let (request, _) = deliver(&arrival(""), |_| {}).await;
    assert_signed(&request);
    // RFC 9110, 8.6. Without it some receivers answer 411 Length Required.
    assert_eq!(request.all("content-length"), ["0"]);
}

#[tokio::test]
async fn a_delivery_carries_the_time_of_its_attempt_and_who_sends_it() {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let before = now();
    let receiver = Receiver::answering([OK]).await;
    let gateway = Gateway::start().await;
    gateway.deliver_to(&receiver.url()).await;
    let event = gateway.accept("x").await;
    gateway.delivered_at_once(event).await;
    let request = &receiver.requests()[0];
    let timestamp: u64 = request.one("webhook-timestamp").parse().unwrap();
    assert!((before..=now()).contains(&timestamp));
    assert_eq!(request.one("host"), format!("127.0.0.1:{}", receiver.port()));
    assert_eq!(request.one("accept-encoding"), "identity", "an answer is never inflated");
    assert!(request.one("user-agent").starts_with("Postrider/"));
}

#[tokio::test]
async fn a_delivery_says_the_type_of_its_event_as_the_gateway_knows_it() {
    let typed = |text: &str, own: &[(&str, &str)]| Arrival {
        event_type: EventType::parse(text).ok(),
        headers: headers(own),
        ..arrival("{}")
    };
    let (request, attempt) =
        deliver(&typed("order.paid", &[("Postrider-Event-Type", "forged")]), |_| {}).await;
    assert_eq!(request.one("postrider-event-type"), "order.paid");
    assert!(attempt.request_headers.has("postrider-event-type", "order.paid"));
    let (request, _) = deliver(&Arrival { event_type: None, ..typed("a", &[]) }, |_| {}).await;
    assert_eq!(request.all("postrider-event-type"), [""; 0]);
    // Receivers of waford and DispatchGo get the headers that they know.
    let (request, _) = deliver(&typed("order.paid", &[(ID_HEADER, "x-webhook-event-id")]), |_| {}).await;
    assert_eq!(request.all("postrider-event-type"), [""; 0]);
}

#[tokio::test]
async fn the_event_s_own_headers_are_passed_on() {
    let own = [
        ("Content-Type", "application/cloudevents+json; charset=utf-8"),
        ("Content-Encoding", "gzip"),
        ("X-GitHub-Event", "push"),
        ("X-Twice", "first"),
        ("X-Twice", "second"),
        ("X-Text", "grüße"),
    ];
    let (request, attempt) = deliver(&Arrival { headers: headers(&own), ..arrival("{}") }, |_| {}).await;
    assert_eq!(request.one("content-type"), own[0].1);
    assert_eq!(request.one("content-encoding"), "gzip");
    assert_eq!(request.one("x-github-event"), "push");
    assert_eq!(request.all("x-twice"), ["first", "second"]);
    assert_eq!(request.one("x-text"), "grüße");
    assert!(attempt.request_headers.has("x-github-event", "push"));
}

#[tokio::test]
async fn headers_of_the_sender_s_connection_and_credentials_are_not_passed_on() {
    let not_the_event_s = [
        ("Authorization", "Bearer of-the-sender"),
        ("Cookie", "session=1"),
        ("Proxy-Authorization", "Basic x"),
        ("Connection", "keep-alive"),
        ("Keep-Alive", "timeout=5"),
        ("Proxy-Connection", "keep-alive"),
        ("Transfer-Encoding", "chunked"),
        ("TE", "trailers"),
        ("Trailer", "X-Later"),
        ("Upgrade", "websocket"),
        ("Expect", "100-continue"),
        ("X-Forwarded-For", "10.0.0.1"),
    ];
    let replaced = [
        ("Host", "intern.example"),
        ("Content-Length", "999"),
        ("User-Agent", "spoofed/1"),
        ("Accept-Encoding", "gzip"),
        ("Webhook-Id", "spoofed"),
        ("webhook-timestamp", "1"),
        ("WEBHOOK-SIGNATURE", "v1,spoofed"),
        ("Postrider-Attempt", "77"),
    ];
    let sent = headers(&[&not_the_event_s[..], &replaced, &[("webhook-extra", "spoofed")]].concat());
    let (request, attempt) = deliver(&Arrival { headers: sent, ..arrival("body") }, |_| {}).await;
    for (name, value) in not_the_event_s {
        assert_eq!(request.all(name), [""; 0], "{name}");
        assert!(!format!("{attempt:?}").contains(value) || value == "keep-alive", "{name} is recorded");
    }
    for (name, spoofed) in replaced {
        assert_ne!(request.one(name), spoofed);
    }
    assert_eq!(request.all("webhook-extra"), [""; 0]);
    assert_eq!((request.body.as_slice(), request.one("postrider-attempt")), (&b"body"[..], "1"));
    assert_signed(&request);
}

#[tokio::test]
async fn headers_that_a_receiver_takes_for_ours_are_not_passed_on() {
    // WSGI, CGI and what follows them make HTTP_X_TENANT of each of these.
    let collide = [
        "X_Tenant",
        "x.tenant",
        "X_Api_Key",
        "Webhook_Signature",
        "webhook_id",
        "Content_Length",
        "Transfer_Encoding",
        "Postrider_Attempt",
        "X_Forwarded_For",
        "Proxy_Authorization",
        "User_Agent",
    ];
    // What servers and frameworks take for the word of a proxy before them.
    let of_proxies = [
        "Proxy",
        "Forwarded",
        "X-Forwarded",
        "X-Real-IP",
        "X_Real_IP",
        "X-Original-URL",
        "X-Rewrite-URL",
        "X-HTTP-Method-Override",
        "X-HTTP-Method",
        "X-Method-Override",
        "X-Client-IP",
        "True-Client-IP",
        "Via",
        "CF-Ray",
        "X_Envoy_External_Address",
    ];
    let kept = ["X-Tenant-Name", "X_Own_Word", "X-Proxy", "X-Real-Estate"];
    let all: Vec<(&str, &str)> =
        [&collide[..], &of_proxies, &kept].concat().into_iter().map(|name| (name, "of-the-sender")).collect();
    let (request, attempt) = deliver(&Arrival { headers: headers(&all), ..arrival("{}") }, |to| {
        to.custom_headers = [("X-Tenant", "of-the-destination")].into_iter().collect();
        to.auth = Some(DestinationAuth::Header { header: "X-Api-Key".into(), value: "of-the-header".into() });
    })
    .await;
    let came: Vec<&str> = request
        .headers
        .iter()
        .filter(|(_, value)| value == "of-the-sender")
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(came, kept.map(str::to_ascii_lowercase));
    assert_eq!(request.one("x-tenant"), "of-the-destination");
    assert!(!attempt.request_headers.iter().any(|(name, _)| name == "x_tenant"), "{attempt:?}");
    assert_signed(&request);
}

#[tokio::test]
async fn headers_that_the_sender_s_connection_header_names_are_not_passed_on() {
    let own = [("Connection", "close, X-Hop"), ("X-Hop", "of this connection"), ("X-End", "of the event")];
    let (request, _) = deliver(&Arrival { headers: headers(&own), ..arrival("{}") }, |_| {}).await;
    assert_eq!(request.one("x-end"), "of the event");
    assert_eq!(request.all("x-hop"), [""; 0], "RFC 9110, 7.6.1: it is about the hop it came in on");
}

#[tokio::test]
async fn what_the_receiver_wants_shown_is_sent_and_redacted_in_the_record() {
    let bearer = DestinationAuth::Bearer { token: "of-the-bearer".into() };
    let header = DestinationAuth::Header { header: "X-Api-Key".into(), value: "of-the-header".into() };
    // RFC 7617, 2.1: a pair in UTF-8, the name ends at the first colon.
    let basic = DestinationAuth::Basic { username: "Aladdin".into(), password: "open:sesame".into() };
    for (auth, name, value) in [
        (bearer, "authorization", "Bearer of-the-bearer"),
        (header, "x-api-key", "of-the-header"),
        (basic, "authorization", "Basic QWxhZGRpbjpvcGVuOnNlc2FtZQ=="),
    ] {
        // The sender's own of the same names do not stand beside ours.
        let sent = headers(&[("Authorization", "of-the-sender"), ("X-Team", "of-the-sender")]);
        let (request, attempt) = deliver(&Arrival { headers: sent, ..arrival("{}") }, |to| {
            to.auth = Some(auth);
            to.custom_headers = [("X-Team", "of-the-team")].into_iter().collect();
        })
        .await;
        assert_eq!((request.one(name), request.one("x-team")), (value, "of-the-team"));
        let shown: Vec<_> =
            attempt.request_headers.iter().filter(|(_, value)| *value == "[redacted]").collect();
        let mut names: Vec<&str> = shown.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        assert_eq!(names, [name, "x-team"]);
        for secret in ["of-the-bearer", "of-the-header", "QWxhZGRpbjpv", "of-the-team", SECRET] {
            assert!(!format!("{attempt:?}").contains(secret), "{secret} is in the record");
        }
    }
}
