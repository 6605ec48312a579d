//! Ordered lines that wait for no dead letter any more.

use super::{Dispatcher, Done};
use postrider_core::id::DestinationId;
use postrider_core::scheduler::{Depth, Input};
use postrider_store::StoreError;
use std::sync::Arc;
use std::time::Duration;

/// Lines that could not be released are tried again after this: nobody else would ask for it.
const RELEASE_RETRY: Duration = Duration::from_secs(1);

impl Dispatcher {
    /// A destination's lines wait for no dead letter any more: those that they waited for go out of the way.
    pub(super) fn release(&mut self, destination: DestinationId, delay: Duration) {
        let store = Arc::clone(&self.store);
        self.work.push(Box::pin(async move {
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            let released = store.release(destination).await;
            Done::Released(destination, released)
        }));
    }

    pub(super) fn released(&mut self, destination: DestinationId, result: Result<Depth, StoreError>) {
        match result {
            Ok(_) if self.store.is_shared() => {}
            Ok(gone) => self.step(Input::UnblockedAll { destination, gone }),
            Err(error) => {
                self.fault.note(&error);
                let account = self.owner_of(destination).map(tracing::field::display);
                tracing::warn!(%error, %destination, account, "failed to release ordered lanes; retrying");
                if !self.fault.is_told() {
                    self.release(destination, RELEASE_RETRY);
                }
            }
        }
    }
}
