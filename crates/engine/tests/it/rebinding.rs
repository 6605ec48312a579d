//! Names that change their mind: what is dialled is what was checked, and nothing is looked up in between.

use crate::gateway::Setup;
use crate::receiver::{OK, Receiver};
use async_trait::async_trait;
use postrider_core::outcome::Outcome;
use postrider_engine::send::{AddressGuard, Resolve};
use postrider_store::ErrorKind;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpListener;

const OPEN: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const CLOSED: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// Gives another answer each time it is asked.
#[derive(Default)]
struct Fickle {
    asked: AtomicUsize,
}

#[async_trait]
impl Resolve for Fickle {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Ok(match self.asked.fetch_add(1, Ordering::SeqCst) % 4 {
            0 => vec![OPEN],
            1 => vec![CLOSED],
            2 => vec![CLOSED, OPEN],
            _ => vec![OPEN, CLOSED],
        })
    }
}

#[tokio::test]
async fn a_name_that_changes_its_mind_a_thousand_times_reaches_no_closed_address() {
    let receiver = Receiver::answering([OK]).await;
    let canary = TcpListener::bind((CLOSED, receiver.port())).await.unwrap();
    let resolver = Arc::new(Fickle::default());
    let guard = AddressGuard::new(vec![OPEN.into()]);
    let gateway = Setup { guard, resolver: resolver.clone(), ..Setup::default() }.start().await;
    let (mut reached, mut refused) = (0, 0);
    // Another name each time, so that no answer is remembered. At the same time, since a refusal takes its time.
    let mut events = Vec::new();
    for n in 0..1000 {
        let name = format!("n{n}");
        let url = format!("http://{name}.rebinding.test:{}/", receiver.port());
        gateway.route(&name, &gateway.destination(&url)).await;
        events.push(gateway.accept_typed(&name).await);
    }
    for event in events {
        let attempt = gateway.attempt(event).await;
        match attempt.problem {
            None => reached += usize::from(attempt.outcome == Outcome::Success),
            Some(problem) => {
                assert_eq!(problem.kind, ErrorKind::Dns, "as if there were no such name: {problem}");
                refused += 1;
            }
        }
    }
    assert_eq!((reached, refused, resolver.asked.load(Ordering::SeqCst)), (750, 250, 1000));
    let connected = tokio::time::timeout(std::time::Duration::ZERO, canary.accept()).await;
    assert!(connected.is_err(), "the canary was reached: {connected:?}");
}
