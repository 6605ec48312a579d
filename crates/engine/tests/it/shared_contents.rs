//! The attempts of one event share one copy of it, whenever each of them begins.

use crate::gateway::{Setup, every};
use crate::receiver::{BROKEN, OK, Receiver};
use crate::switched_store::SwitchedStore;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn a_retry_reads_nothing_that_another_attempt_of_its_event_still_holds() {
    const RETRIES: u64 = 5;
    let store = SwitchedStore::new();
    let gateway = Setup { store: Arc::clone(&store) as _, ..Setup::default() }.start().await;
    let (slow, fails) = (Receiver::holding(OK).await, Receiver::answering([BROKEN]).await);
    gateway.deliver_to(&slow.url()).await;
    let mut retried = gateway.destination(&fails.url());
    retried.retry_policy = Some(every(Duration::from_millis(10), RETRIES));
    gateway.route("**", &retried).await;
    let event = gateway.accept(vec![b'x'; 100_000]).await;
    slow.until_requests(1).await;
    fails.until_requests(RETRIES as usize).await;
    assert_eq!(store.contents(), 0, "the slow attempt has it in memory");
    slow.release();
    gateway.settled(event).await;
}
