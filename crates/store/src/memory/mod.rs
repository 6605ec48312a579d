//! The store in memory: the promises of [`Store`] and nothing else, for tests and the simulation.
//!
//! What it holds outlives the engine that runs on it, so a crash is an engine that is dropped and another one
//! started on the same store. A run begins when it reads the configuration and ends with `close`.

mod data;
mod dead_letters;
mod history;
mod sessions;
mod settings;
#[cfg(test)]
mod tests;

use crate::Store;
use crate::audit::{AuditPage, AuditQuery, AuditRecord};
use crate::batch::{Batch, Receipt};
use crate::configuration::{Change, Configuration};
use crate::dead_letter::{DeadLetterKey, DeadLetterPage, DeadLetterQuery, Discarded, OwedAgain, Revival};
use crate::dead_letter_groups::DeadLetterGroups;
use crate::error::StoreError;
use crate::event::{EventContent, EventDetail};
use crate::query::{EventPage, EventQuery, LineDepth, Page};
use crate::replay::Replay;
use crate::series::{Moment, Ring, SeriesPoint};
use crate::session::{SessionStore, ended_by};
use crate::space::Space;
use crate::start::Start;
use crate::stats::Stats;
use async_trait::async_trait;
use data::Data;
use postrider_core::breaker::CircuitRecord;
use postrider_core::delivery::{Line, OrderKey};
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId};
use postrider_core::scheduler::Depth;
use postrider_core::time::Timestamp;
use sessions::Sessions;
use settings::Settings;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

/// Keeps everything in memory. It never waits, so its futures are ready at once.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    data: Data,
    settings: Settings,
    /// By ring and place.
    series: BTreeMap<(Ring, u64), SeriesPoint>,
    sessions: Sessions,
    /// A run has begun and not stopped in order.
    running: bool,
    /// What the next commits fail with.
    faults: VecDeque<fn() -> StoreError>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the next `count` commits fail with what `error` makes, for example `|| StoreError::Full`. They
    /// write nothing.
    pub fn fail_next_commits(&self, count: usize, error: fn() -> StoreError) {
        self.state().faults.extend(std::iter::repeat_n(error, count));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a panic in the store ends the test that caused it")
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn commit(&self, batch: Arc<Batch>) -> Result<Receipt, StoreError> {
        let mut state = self.state();
        match state.faults.pop_front() {
            Some(fault) => Err(fault()),
            None => Ok(state.data.commit(&batch)),
        }
    }

    async fn load_keys(
        &self,
        destination: DestinationId,
        after: Option<OrderKey>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        Ok(self.state().data.load_keys(destination, after, limit))
    }

    async fn load(&self, line: Line, limit: usize) -> Result<Page, StoreError> {
        Ok(self.state().data.load(line, limit))
    }

    async fn lines(&self) -> Result<Vec<LineDepth>, StoreError> {
        Ok(self.state().data.lines())
    }

    async fn interrupted_starts(&self) -> Result<Vec<Start>, StoreError> {
        Ok(self.state().data.interrupted_starts())
    }

    async fn content(&self, event: EventId) -> Result<Option<EventContent>, StoreError> {
        Ok(self.state().data.content(event))
    }

    async fn configure(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        let mut state = self.state();
        for change in changes {
            ended_by(&change).into_iter().for_each(|key| state.sessions.end_of_key(key));
            state.settings.apply(change);
        }
        Ok(())
    }

    async fn configuration(&self) -> Result<Configuration, StoreError> {
        let mut state = self.state();
        let unclean_stop = std::mem::replace(&mut state.running, true);
        if unclean_stop {
            state.data.note_unclean_stop();
        }
        let id_floor = state.data.greatest_id().max(state.settings.greatest_id());
        Ok(Configuration { id_floor, unclean_stop, ..state.settings.all() })
    }

    async fn keep_circuits(&self, circuits: Vec<(DestinationId, CircuitRecord)>) -> Result<(), StoreError> {
        let mut state = self.state();
        circuits.into_iter().for_each(|(id, record)| state.settings.keep_circuit(id, record));
        Ok(())
    }

    async fn release(&self, destination: DestinationId) -> Result<Depth, StoreError> {
        Ok(self.state().data.release(destination))
    }

    async fn bury(
        &self,
        destination: DestinationId,
        now: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        Ok(self.state().data.bury(destination, now, limit))
    }

    async fn events(&self, query: EventQuery) -> Result<EventPage, StoreError> {
        Ok(self.state().data.events(&query))
    }

    async fn event(&self, account: AccountId, event: EventId) -> Result<Option<EventDetail>, StoreError> {
        Ok(self.state().data.event(account, event))
    }

    async fn event_of(
        &self,
        account: AccountId,
        delivery: DeliveryId,
    ) -> Result<Option<EventDetail>, StoreError> {
        Ok(self.state().data.event_of(account, delivery))
    }

    async fn stats(&self, account: Option<AccountId>) -> Result<Stats, StoreError> {
        Ok(self.state().data.stats(account))
    }

    async fn dead_letters(&self, query: DeadLetterQuery) -> Result<DeadLetterPage, StoreError> {
        Ok(self.state().data.list_dead_letters(&query))
    }

    async fn dead_letter_groups(
        &self,
        account: AccountId,
        limit: usize,
    ) -> Result<DeadLetterGroups, StoreError> {
        Ok(self.state().data.group_dead_letters(account, limit))
    }

    async fn revive(
        &self,
        account: AccountId,
        revivals: Vec<Revival>,
        now: Timestamp,
    ) -> Result<OwedAgain, StoreError> {
        Ok(self.state().data.revive(account, &revivals, now))
    }

    async fn discard(
        &self,
        account: AccountId,
        letters: Vec<DeadLetterKey>,
        _now: Timestamp,
    ) -> Result<Discarded, StoreError> {
        Ok(self.state().data.discard(account, &letters))
    }

    async fn put_replay(&self, replay: Replay) -> Result<(), StoreError> {
        self.state().settings.put_replay(replay);
        Ok(())
    }

    async fn record(&self, record: AuditRecord) -> Result<(), StoreError> {
        self.state().settings.record(record);
        Ok(())
    }

    async fn audit(&self, query: AuditQuery) -> Result<AuditPage, StoreError> {
        Ok(self.state().settings.audit(&query))
    }

    async fn replays(&self) -> Result<Vec<Replay>, StoreError> {
        Ok(self.state().settings.replays())
    }

    fn sessions(&self) -> &dyn SessionStore {
        self
    }

    async fn maintain(&self, now: Timestamp) -> Result<(), StoreError> {
        self.state().data.forget_keys(now);
        Ok(())
    }

    async fn writable(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn keep_series(&self, points: Vec<SeriesPoint>) -> Result<(), StoreError> {
        let mut state = self.state();
        for point in points {
            state.series.insert((point.ring, point.point % point.ring.points()), point);
        }
        Ok(())
    }

    async fn series(&self, ring: Ring, since: u64) -> Result<Vec<SeriesPoint>, StoreError> {
        let state = self.state();
        let of_ring = state.series.values().filter(|found| found.ring == ring && found.point >= since);
        let mut found: Vec<SeriesPoint> = of_ring.cloned().collect();
        found.sort_by_key(|found| found.point);
        Ok(found)
    }

    async fn own_point(&self, ring: Ring, point: u64) -> Result<Option<Moment>, StoreError> {
        let state = self.state();
        let found = state.series.get(&(ring, point % ring.points()));
        Ok(found.filter(|found| found.point == point).map(|found| found.moment.clone()))
    }

    async fn space(&self) -> Result<Space, StoreError> {
        Ok(Space::default())
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.state().running = false;
        Ok(())
    }
}
