//! Carries happenings from their queue to the connection, for as long as both sides and the key last.

use super::frame;
use crate::api::App;
use bytes::Bytes;
use http_body_util::channel::Sender;
use postrider_core::id::{ApiKeyId, EventId};
use postrider_core::map::IdSet;
use postrider_engine::{Happening, LiveFilter, Told, Watch};
use postrider_store::StoreError;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Nothing to tell for so long: a comment says that the stream is alive, and finds out whether the reader is.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// A key that was revoked is told nothing more after this.
const KEY_CHECK: Duration = Duration::from_secs(1);

pub(super) struct Pump {
    pub(super) app: Arc<App>,
    /// What the reader showed; `None` for the gateway's own key.
    pub(super) key: Option<ApiKeyId>,
    pub(super) filter: LiveFilter,
    pub(super) watch: Watch,
    pub(super) frames: Sender<Bytes, StoreError>,
}

impl Pump {
    /// Runs until the reader goes, its key counts no longer, or the gateway stops.
    pub(super) async fn run(mut self, last: Option<EventId>) {
        // The watch has begun, so what is accepted while the past is read waits in its queue.
        let since = self.filter.account.map(|_| self.watch.since).filter(|_| last.is_none());
        if self.send(frame::open(since)).await.is_break() {
            return;
        }
        let told = match last {
            None => IdSet::default(),
            Some(last) => match self.catch_up(last).await {
                Ok(told) => told,
                Err(error) => {
                    tracing::warn!(%error, "a stream could not resume where it stopped");
                    return self.frames.abort(error);
                }
            },
        };
        self.go_on(&told).await;
    }

    /// Tells what was accepted since the reader was here; gives which events that were.
    async fn catch_up(&mut self, last: EventId) -> Result<IdSet<EventId>, StoreError> {
        let Some(account) = self.filter.account else { return Ok(IdSet::default()) };
        let missed = self.app.engine.missed_since(account, &self.filter, last).await?;
        if missed.cut && self.send(frame::lagged(None)).await.is_break() {
            return Ok(IdSet::default());
        }
        let mut told = IdSet::default();
        for stretch in missed.stretches {
            for event in self.app.engine.accepted_in(account, &self.filter, stretch).await? {
                told.insert(event.id);
                let text = frame::happening(&Happening::Accepted(event), frame::Ids::Given);
                if self.send(text).await.is_break() {
                    return Ok(told);
                }
            }
        }
        Ok(told)
    }

    async fn go_on(&mut self, told_already: &IdSet<EventId>) {
        let ids = if self.filter.account.is_some() { frame::Ids::Given } else { frame::Ids::LeftOut };
        let mut checked_at = Instant::now();
        loop {
            let next = timeout(HEARTBEAT, self.watch.next()).await;
            if checked_at.elapsed() >= KEY_CHECK {
                checked_at = Instant::now();
                if !self.key_counts() {
                    return;
                }
            }
            let text = match next {
                Err(_elapsed) => frame::heartbeat(),
                Ok(None) => return,
                Ok(Some(Told::Missed(missed))) => frame::lagged(Some(missed)),
                Ok(Some(Told::Happened(happening))) => match &*happening {
                    Happening::Accepted(event) if told_already.contains(&event.id) => continue,
                    happening => frame::happening(happening, ids),
                },
            };
            if self.send(text).await.is_break() {
                return;
            }
        }
    }

    fn key_counts(&self) -> bool {
        let now = self.app.engine.clock().now();
        self.key.is_none_or(|key| self.app.engine.catalog().key_counts(key, now))
    }

    async fn send(&mut self, text: String) -> ControlFlow<()> {
        match self.frames.send_data(text.into()).await {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}
