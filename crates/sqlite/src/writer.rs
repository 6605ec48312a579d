//! The one place that writes. Whoever writes holds it, so no two writes ever meet.

use crate::checkpoint::Checkpointer;
use crate::closing;
use crate::error::store_error;
use crate::file_place::DatabasePlace;
use crate::open::SqliteOptions;
use crate::retention::{self, Candidate};
use crate::segment::Segments;
use crate::{audit_log, circuits, commit, configuration, dead_letters, replays, series};
use postrider_core::breaker::CircuitRecord;
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::scheduler::Depth;
use postrider_core::time::Timestamp;
use postrider_store::{
    AuditRecord, Batch, Change, DeadLetterKey, Discarded, OwedAgain, Receipt, Replay, Revival, SeriesPoint,
    StoreError, Vault,
};
use rusqlite::Connection;

pub(crate) struct Writer {
    live: Connection,
    segments: Segments,
    /// Of what events are written to, and of what lists it.
    places: [DatabasePlace; 2],
    checkpointer: Checkpointer,
    options: SqliteOptions,
    /// Runs before this one that did not close the store.
    unclean_stops: i64,
    /// Why nothing is written any more: what a sync that failed was for may be gone, and the next would not say so.
    distrusted: Option<String>,
}

/// What was done of something that takes a transaction in each of several segments, and what ended it before all was.
pub(crate) struct Partly<T> {
    pub(crate) done: T,
    pub(crate) failed: Option<rusqlite::Error>,
}

impl<T> Partly<T> {
    pub(crate) fn whole(done: T) -> Self {
        Partly { done, failed: None }
    }
}

impl Writer {
    pub(crate) fn new(
        live: Connection,
        mut segments: Segments,
        mut checkpointer: Checkpointer,
        options: SqliteOptions,
        unclean_stops: i64,
    ) -> rusqlite::Result<Self> {
        let path = segments.open_path();
        segments.sealed_with_logs().into_iter().for_each(|sealed| checkpointer.seal(sealed));
        let places = [DatabasePlace::of(&segments.live_path()), DatabasePlace::of(&path)];
        checkpointer.watch(&mut segments.open, path)?;
        Ok(Writer { live, segments, places, checkpointer, options, unclean_stops, distrusted: None })
    }

    pub(crate) fn trusted(&self) -> Result<(), StoreError> {
        self.distrusted.as_ref().map_or(Ok(()), |cause| Err(StoreError::Broken(cause.clone())))?;
        self.checkpointer.check()
    }

    pub(crate) fn distrust(&mut self, cause: &str) {
        self.distrusted = Some(cause.to_owned());
    }

    /// What was done is told by itself. What ended it is met by whoever asks for the rest, and must not be forgotten until
    /// then if it puts in doubt what was written.
    fn note_rest<T>(&mut self, partly: Partly<T>) -> T {
        if let Some(error) = partly.failed {
            let error = store_error(&error);
            tracing::warn!(%error, "a change to several segments was only partly written");
            if let StoreError::Broken(cause) = &error {
                self.distrust(cause);
            }
        }
        partly.done
    }

    pub(crate) fn commit(&mut self, batch: &Batch) -> rusqlite::Result<Receipt> {
        let receipt = commit::commit(&mut self.segments, batch, self.unclean_stops);
        self.checkpointer.after_write(&self.segments.open);
        receipt
    }

    /// Whether the next start will find what was written. Looked at after each write, before anybody is answered.
    pub(crate) fn check_places(&mut self) -> Result<(), StoreError> {
        let moved = self.places.iter_mut().try_for_each(DatabasePlace::check);
        moved.map_err(|cause| {
            self.distrust(&cause);
            StoreError::Broken(cause)
        })
    }

    pub(crate) fn configure(&mut self, changes: &[Change], vault: &Vault) -> rusqlite::Result<()> {
        configuration::write(&mut self.live, changes, vault)
    }

    /// Writes what has nothing to do with events.
    pub(crate) fn in_live<T>(
        &mut self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        work(&mut self.live)
    }

    pub(crate) fn keep_series(&mut self, points: &[SeriesPoint]) -> rusqlite::Result<()> {
        series::write(&mut self.live, points)
    }

    pub(crate) fn keep_circuits(
        &mut self,
        circuits: &[(DestinationId, CircuitRecord)],
    ) -> rusqlite::Result<()> {
        circuits::write(&mut self.live, circuits)
    }

    pub(crate) fn release(&mut self, destination: DestinationId) -> rusqlite::Result<Depth> {
        let gone = circuits::release(&mut self.segments, destination);
        gone.map(|gone| self.note_rest(gone))
    }

    pub(crate) fn bury(
        &mut self,
        destination: DestinationId,
        now: Timestamp,
        limit: usize,
    ) -> rusqlite::Result<usize> {
        retention::bury(&mut self.segments, destination, now, limit)
    }

    pub(crate) fn revive(
        &mut self,
        account: AccountId,
        revivals: &[Revival],
        now: Timestamp,
    ) -> rusqlite::Result<OwedAgain> {
        let tickets = dead_letters::revive(&mut self.segments, account, revivals, now);
        self.checkpointer.after_write(&self.segments.open);
        tickets.map(|tickets| self.note_rest(tickets))
    }

    pub(crate) fn discard(
        &mut self,
        account: AccountId,
        letters: &[DeadLetterKey],
        now: Timestamp,
    ) -> rusqlite::Result<Discarded> {
        let discarded = dead_letters::discard(&mut self.segments, account, letters, now);
        self.checkpointer.after_write(&self.segments.open);
        discarded.map(|discarded| self.note_rest(discarded))
    }

    pub(crate) fn put_replay(&mut self, replay: &Replay) -> rusqlite::Result<()> {
        replays::put(&mut self.live, replay)
    }

    pub(crate) fn record(&mut self, record: &AuditRecord) -> rusqlite::Result<()> {
        audit_log::put(&mut self.live, record)
    }

    /// Begins a new segment when it is time.
    pub(crate) fn rotate(&mut self, now: Timestamp) -> rusqlite::Result<()> {
        self.checkpointer.seal_again();
        self.segments.date(&self.live, now)?;
        if !self.segments.is_over(now, self.options.segment_span) {
            return Ok(());
        }
        let sealed = self.segments.rotate(&mut self.live, now)?;
        tracing::info!(segment = %sealed.display(), "sealed a segment");
        self.checkpointer.seal(sealed);
        let path = self.segments.open_path();
        self.places[1] = DatabasePlace::of(&path);
        self.checkpointer.watch(&mut self.segments.open, path)
    }

    /// Drops the segments that retention chooses.
    pub(crate) fn drop_segments(&mut self, now: Timestamp, candidates: &[Candidate]) -> rusqlite::Result<()> {
        let mut numbers = Vec::new();
        for number in retention::choose(candidates, now, &self.options) {
            // A dead letter may have been revived since the candidates were looked at.
            if !retention::is_owed(self.segments.connection(number)?)? {
                numbers.push(number);
            }
        }
        self.segments.forget(&mut self.live, &numbers, now)?;
        audit_log::drop_before(&self.live, now.before(self.options.retention))
    }

    /// Waits for the checkpoints that are under way.
    pub(crate) fn finish(&mut self) {
        self.checkpointer.finish();
    }

    /// Notes an orderly stop.
    pub(crate) fn note_stop(&mut self) -> rusqlite::Result<()> {
        self.live.execute("UPDATE meta SET running = 0", []).map(drop)
    }

    /// Leaves databases alone behind, up to the first sync that fails: after that no file is touched.
    pub(crate) fn bring_logs_in(&mut self) {
        self.checkpointer.note(closing::bring_in_for_good(&self.live));
        for number in self.segments.with_logs() {
            if self.checkpointer.check().is_err() {
                return;
            }
            let segment = self.segments.connection(number);
            self.checkpointer.note(segment.and_then(|segment| closing::bring_in_for_good(segment)));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{DataDirectory, SqliteOptions, SqliteStore};
    use postrider_store::{Store, StoreError, Vault};
    use tempfile::TempDir;

    #[tokio::test]
    async fn a_checkpoint_that_fails_while_a_stop_waits_for_it_is_told() {
        let home = TempDir::new().unwrap();
        let taken = DataDirectory::take(home.path()).unwrap();
        let store = SqliteStore::open(taken, Vault::new([7; 32], &[]), SqliteOptions::default()).unwrap();
        let broken = home.path().join("broken.db");
        std::fs::write(&broken, [b'x'; 8192]).unwrap();
        store.writer().unwrap().checkpointer.seal(broken);
        assert!(matches!(store.close().await, Err(StoreError::Broken(_))));
    }
}
