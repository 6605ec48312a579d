//! Events that are read back from the store to be sent: once for all of their deliveries that wait for it. Of a large
//! fan-out that failed, thousands are due again at the same time, and each holds a slot meanwhile, so there is a bound.

use super::{Dispatcher, Done};
use postrider_core::delivery::Ticket;
use postrider_core::id::EventId;
use postrider_store::{EventContent, StoreError};
use std::sync::Arc;
use std::time::Duration;
use tracing::field::display;

/// A content that could not be read is asked for again after this.
const CONTENT_RETRY: Duration = Duration::from_secs(1);

impl Dispatcher {
    pub(super) fn load_content(&mut self, ticket: Ticket) {
        let waiting = self.loading.entry(ticket.event).or_default();
        waiting.push(ticket);
        if waiting.len() == 1 {
            self.read_content(ticket.event, Duration::ZERO);
        }
    }

    fn read_content(&mut self, event: EventId, delay: Duration) {
        let store = Arc::clone(&self.store);
        self.work.push(Box::pin(async move {
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            Done::Content(event, store.content(event).await.map(|found| found.map(Arc::new)))
        }));
    }

    pub(super) fn content_loaded(
        &mut self,
        event: EventId,
        result: Result<Option<Arc<EventContent>>, StoreError>,
    ) {
        let waiting = self.loading.remove(&event).unwrap_or_default();
        match result {
            Ok(Some(content)) => {
                self.cache.share(event, &content);
                waiting.into_iter().for_each(|ticket| self.hand_over(ticket, Arc::clone(&content)));
            }
            Ok(None) => self.bury_all(waiting, "The event is no longer in the store."),
            Err(StoreError::Damaged(cause)) => {
                self.bury_all(waiting, &format!("The event in the store is damaged: {cause}."));
            }
            Err(error) => {
                self.fault.note(&error);
                for Ticket { delivery, line, .. } in &waiting {
                    let destination = line.destination;
                    let account = self.owner_of(destination).map(display);
                    tracing::warn!(%error, %event, %delivery, %destination, account, "failed to read an event; retrying");
                }
                self.loading.insert(event, waiting);
                self.read_content(event, CONTENT_RETRY);
            }
        }
    }

    fn bury_all(&mut self, tickets: Vec<Ticket>, sentence: &str) {
        tickets.into_iter().for_each(|ticket| self.bury(ticket, sentence.to_owned()));
    }
}
