//! Producers that post without pause and write down what they were answered.

use super::client::{Client, request};
use super::wait::let_pass;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// One line of the ledger. Bodies are unique.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) body: Vec<u8>,
    pub(crate) fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Answered 202.
    Accepted,
    /// Answered otherwise, or never sent: it must not be delivered.
    Refused,
    /// Sent, and the connection ended without an answer: anything may have become of it.
    Unknown,
}

pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    producers: Vec<JoinHandle<Vec<Entry>>>,
}

impl Load {
    /// Starts producers that each post one event after the other.
    pub(crate) fn start(address: SocketAddr, path: &str, producers: usize) -> Self {
        Load::start_as(address, path, 0..producers)
    }

    /// The same with these numbers, which no other load of the test may have.
    pub(crate) fn start_as(address: SocketAddr, path: &str, producers: Range<usize>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let produce = |number| {
            let (stop, path) = (Arc::clone(&stop), path.to_owned());
            thread::spawn(move || produce(address, &path, number, &stop))
        };
        Load { producers: producers.map(produce).collect(), stop }
    }

    /// Ends all producers and gives the ledger.
    pub(crate) fn stop(self) -> Vec<Entry> {
        self.stop.store(true, Ordering::Relaxed);
        self.producers.into_iter().flat_map(|producer| producer.join().expect("a producer ends")).collect()
    }
}

/// How long a producer waits before it connects to a gateway again that was not there.
const RECONNECT: Duration = Duration::from_millis(5);

fn produce(address: SocketAddr, path: &str, producer: usize, stop: &AtomicBool) -> Vec<Entry> {
    let (mut ledger, mut client) = (Vec::new(), None);
    while !stop.load(Ordering::Relaxed) {
        let Some(connected) = client.take().or_else(|| Client::connect(address).ok()) else {
            let_pass(RECONNECT);
            continue;
        };
        let body = format!("{{\"producer\":{producer},\"number\":{}}}", ledger.len()).into_bytes();
        let (fate, kept) = post(connected, path, &body);
        ledger.push(Entry { body, fate });
        client = kept;
    }
    ledger
}

/// The fate of an event, and the connection if it can be used again.
fn post(mut client: Client, path: &str, body: &[u8]) -> (Fate, Option<Client>) {
    match client.exchange(&request("POST", path, &[], body)) {
        Ok(answer) if answer.status == 202 => {
            let closes = answer.headers.get("connection") == Some("close");
            (Fate::Accepted, (!closes).then_some(client))
        }
        Ok(_) => (Fate::Refused, None),
        Err(_) => (Fate::Unknown, None),
    }
}
