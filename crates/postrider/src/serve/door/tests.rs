//! Clients of the door that are slow to speak or to listen: each of its deadlines is kept.

use super::super::bootstrap::first_things;
use super::super::connections::tests::drip;
use super::super::lingering::LINGER;
use super::*;
use crate::cli::ServeArgs;
use crate::config::Config;
use crate::serve::subkeys::Subkeys;
use postrider_engine::send::{AddressGuard, Connector, tls_config};
use postrider_engine::{Engine, EngineOptions};
use postrider_store::MemoryStore;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::DuplexStream;

/// A drop comes each second, and the one that finds nobody a second later.
const DROPS: Duration = Duration::from_secs(2);

/// An app over a store in memory, and the path of its first source. From then on time passes only while all wait.
async fn start() -> (Arc<App>, String) {
    let config = Config::read(&ServeArgs::default(), &HashMap::new()).unwrap();
    let connector = Arc::new(Connector::new(AddressGuard::new(Vec::new()), tls_config()));
    let store = Arc::new(MemoryStore::new());
    let (engine, workers) = Engine::start(store, connector, EngineOptions::new(1, 1)).await.unwrap();
    workers.into_iter().for_each(|worker| drop(tokio::spawn(worker.run())));
    let first = first_things(&engine, &config).await.unwrap();
    let path = format!("/ingest/{}", first.source.as_ref().unwrap().token);
    let app = App::new(engine, &config, config.listen, ([0; 32], &Subkeys::of(&[0; 32])), first);
    tokio::time::pause();
    (app, path)
}

/// A client whose requests are all for the door.
fn connect(app: Arc<App>) -> DuplexStream {
    let (client, server) = tokio::io::duplex(1024);
    let (stop, stopping) = watch::channel(false);
    tokio::spawn(async move {
        assert!(
            serve(server, &ClientConnection::of_a_test(), &app, &stopping).await.is_none(),
            "none of it is for the server behind"
        );
        drop(stop);
    });
    client
}

#[tokio::test]
async fn an_event_whose_head_drips_in_is_hung_up_on() {
    let (app, path) = start().await;
    let head = format!("POST {path} HTTP/1.1\r\nhost: a\r\nx: {}", "y".repeat(100));
    let (answer, took) = drip(connect(app), &head).await;
    assert_eq!(answer, "");
    assert!((HEADER_DEADLINE..=HEADER_DEADLINE + DROPS).contains(&took), "{took:?}");
}

#[tokio::test]
async fn an_event_whose_body_drips_in_is_refused_and_hung_up_on() {
    let (app, path) = start().await;
    let mut client = connect(app);
    let head = format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    let (answer, took) = drip(client, &"y".repeat(100)).await;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("\r\nconnection: close\r\n"), "{answer}");
    // It goes on dripping, which is read on for a while so that it can look at its answer.
    assert!((BODY_DEADLINE..=BODY_DEADLINE + LINGER + DROPS).contains(&took), "{took:?}");
}

#[tokio::test]
async fn a_connection_that_posts_nothing_is_hung_up_on() {
    let (app, _) = start().await;
    let (answer, took) = drip(connect(app), "").await;
    assert_eq!(answer, "");
    assert!((HEADER_DEADLINE..=HEADER_DEADLINE + DROPS).contains(&took), "{took:?}");
}

#[tokio::test]
async fn a_sender_that_does_not_read_its_answers_is_hung_up_on() {
    let (app, _) = start().await;
    let mut client = connect(app);
    // More answers than there is room for on the way.
    let requests = "POST /ingest/nobody HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n".repeat(12);
    client.write_all(requests.as_bytes()).await.unwrap();
    let (began, mut seconds) = (Instant::now(), tokio::time::interval(Duration::from_secs(1)));
    // What it may still write says that the door is open.
    while client.write_all(b"P").await.is_ok() && began.elapsed() < 2 * WRITE_DEADLINE {
        seconds.tick().await;
    }
    let took = began.elapsed();
    assert!((WRITE_DEADLINE..=WRITE_DEADLINE + DROPS).contains(&took), "{took:?}");
}

#[tokio::test]
async fn nothing_of_a_request_is_kept_behind_it() {
    let (app, path) = start().await;
    for body in [0, 2000, 12_000] {
        let (client, _server) = tokio::io::duplex(1);
        let nobody = ClientConnection::of_a_test();
        let mut connection = Connection::new(client, &nobody);
        let head = format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: {body}\r\n\r\n");
        // More room than it takes, of which the rest would be seen behind it.
        connection.read.reserve(read_buffer::READ_BYTES);
        connection.read.extend_from_slice(&[head.as_bytes(), &vec![b'x'; body]].concat());
        assert!(matches!(connection.next(&app), Next::Known(Ok(_), Then::Next)));
        assert_eq!(connection.read.capacity(), 0, "{body}");
        assert!(connection.begun.is_none());
    }
}
