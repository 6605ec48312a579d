//! Pages of the queue that the scheduler asks for, and what comes of them.

use super::{Dispatcher, Done};
use postrider_core::delivery::{Line, OrderKey};
use postrider_core::id::DestinationId;
use postrider_core::scheduler::Input;
use postrider_store::{Page, StoreError};
use std::sync::Arc;

/// What a page was asked for, and how often its shard had been lost by then. One that was lost meanwhile was somebody
/// else's, who may have sent all that the page shows.
pub(super) struct Asked<T> {
    of: T,
    losses: u32,
}

impl Dispatcher {
    pub(super) fn load_page(&mut self, line: Line, limit: usize) {
        let store = Arc::clone(&self.store);
        let asked = Asked { of: line, losses: self.owned.losses(line.destination) };
        self.work.push(Box::pin(async move { Done::Page(asked, store.load(line, limit).await) }));
    }

    pub(super) fn load_keys(&mut self, destination: DestinationId, after: Option<OrderKey>, limit: usize) {
        let store = Arc::clone(&self.store);
        let asked = Asked { of: destination, losses: self.owned.losses(destination) };
        self.work.push(Box::pin(async move {
            Done::Keys(asked, store.load_keys(destination, after, limit).await)
        }));
    }

    pub(super) fn page_loaded(&mut self, asked: &Asked<Line>, result: Result<Page, StoreError>) {
        let Asked { of: line, losses } = *asked;
        if losses != self.owned.losses(line.destination) {
            return;
        }
        match result {
            Ok(page) => self.step(Input::Page { line, tickets: page.tickets, end: page.end }),
            Err(error) => {
                self.fault.note(&error);
                let destination = line.destination;
                let account = self.owner_of(destination).map(tracing::field::display);
                tracing::warn!(%error, %destination, account, "failed to read a page of the queue; retrying");
                self.step(Input::PageFailed(line));
            }
        }
    }

    pub(super) fn keys_loaded(&mut self, asked: &Asked<DestinationId>, result: Result<Page, StoreError>) {
        let Asked { of: destination, losses } = *asked;
        if losses != self.owned.losses(destination) {
            return;
        }
        match result {
            Ok(page) => self.step(Input::Keys { destination, tickets: page.tickets, end: page.end }),
            Err(error) => {
                self.fault.note(&error);
                let account = self.owner_of(destination).map(tracing::field::display);
                tracing::warn!(%error, %destination, account, "failed to read a page of ordering keys; retrying");
                self.step(Input::KeysFailed(destination));
            }
        }
    }
}
