//! The one place that writes. Whoever writes holds it, so no two writes ever meet.

use crate::checkpoint::Checkpointer;
use crate::open::SqliteOptions;
use crate::retention::{self, Candidate};
use crate::segment::Segments;
use crate::{circuits, commit, configuration};
use postrider_core::breaker::CircuitRecord;
use postrider_core::id::DestinationId;
use postrider_core::scheduler::Depth;
use postrider_core::time::Timestamp;
use postrider_store::{Batch, Change, Receipt};
use rusqlite::Connection;

pub(crate) struct Writer {
    live: Connection,
    segments: Segments,
    checkpointer: Checkpointer,
    options: SqliteOptions,
}

impl Writer {
    pub(crate) fn new(
        live: Connection,
        mut segments: Segments,
        mut checkpointer: Checkpointer,
        options: SqliteOptions,
    ) -> rusqlite::Result<Self> {
        let path = segments.open_path();
        checkpointer.watch(&mut segments.open, path)?;
        Ok(Writer { live, segments, checkpointer, options })
    }

    pub(crate) fn commit(&mut self, batch: &Batch) -> rusqlite::Result<Receipt> {
        let receipt = commit::commit(&mut self.segments, batch);
        self.checkpointer.after_write(&self.segments.open);
        receipt
    }

    pub(crate) fn configure(&mut self, changes: &[Change]) -> rusqlite::Result<()> {
        configuration::write(&mut self.live, changes)
    }

    pub(crate) fn keep_circuits(
        &mut self,
        circuits: &[(DestinationId, CircuitRecord)],
    ) -> rusqlite::Result<()> {
        circuits::write(&mut self.live, circuits)
    }

    pub(crate) fn release(&mut self, destination: DestinationId) -> rusqlite::Result<Depth> {
        circuits::release(&mut self.segments, destination)
    }

    pub(crate) fn bury(
        &mut self,
        destination: DestinationId,
        now: Timestamp,
        limit: usize,
    ) -> rusqlite::Result<usize> {
        retention::bury(&mut self.segments, destination, now, limit)
    }

    /// Begins a new segment when it is time.
    pub(crate) fn rotate(&mut self, now: Timestamp) -> rusqlite::Result<()> {
        self.segments.date(&self.live, now)?;
        if !self.segments.is_over(now, self.options.segment_span) {
            return Ok(());
        }
        let sealed = self.segments.rotate(&mut self.live, now)?;
        tracing::info!(segment = %sealed.display(), "sealed a segment");
        self.checkpointer.seal(sealed);
        let path = self.segments.open_path();
        self.checkpointer.watch(&mut self.segments.open, path)
    }

    /// Drops the segments that retention chooses.
    pub(crate) fn drop_segments(&mut self, now: Timestamp, candidates: &[Candidate]) -> rusqlite::Result<()> {
        let numbers = retention::choose(candidates, now, &self.options);
        self.segments.forget(&self.live, &numbers)
    }

    /// Notes an orderly stop.
    pub(crate) fn close(&mut self) -> rusqlite::Result<()> {
        self.live.execute("UPDATE meta SET running = 0", [])?;
        self.checkpointer.finish();
        Ok(())
    }
}
