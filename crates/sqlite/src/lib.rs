//! The embedded store: SQLite in WAL mode at `synchronous=FULL`, one writer, a sync before every answer.
//!
//! A data directory holds `live.db` (configuration) and `segments/*.db`: the events of one stretch of time with
//! all that belongs to them. An event, what is owed for it, its attempts and its dead letters are in one file for
//! good, so a commit is one transaction of one file and nothing needs repair after a crash.

mod audit;
mod audit_log;
mod backup;
mod boot;
mod checkpoint;
mod checksum;
mod circuits;
mod closing;
mod commit;
mod configuration;
mod dead_letter_groups;
mod dead_letters;
mod error;
mod file_place;
mod history;
mod listing;
mod lock;
mod open;
mod reader;
mod replays;
mod retention;
mod rows;
mod segment;
mod series;
mod sessions;
mod standing;
mod starts;
mod statements;
mod stats;
mod transfer;
mod write_ahead_log;
mod writer;

pub use audit::audit;
pub use backup::{Copied, back_up};
pub use error::OpenError;
pub use lock::DataDirectory;
pub use open::SqliteOptions;
pub use transfer::SqliteTransfer;

use async_trait::async_trait;
use history::Contents;
use postrider_core::breaker::CircuitRecord;
use postrider_core::delivery::{Line, OrderKey};
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId};
use postrider_core::scheduler::Depth;
use postrider_core::time::Timestamp;
use postrider_store::{
    AuditPage, AuditQuery, AuditRecord, Batch, Change, Configuration, DeadLetterGroups, DeadLetterKey,
    DeadLetterPage, DeadLetterQuery, Discarded, EventContent, EventDetail, EventPage, EventQuery, LineDepth,
    Moment, OwedAgain, Page, Receipt, Replay, Revival, Ring, SeriesPoint, SessionStore, Space, Start, Stats,
    Store, StoreError, Vault,
};
use reader::{Reader, Readers};
use std::sync::{Arc, Mutex, MutexGuard};
use writer::Writer;

/// The embedded store. Dropping it without `close` is an unclean stop, as a crash would be.
pub struct SqliteStore {
    writer: Mutex<Writer>,
    readers: Readers,
    contents: Arc<Contents>,
    /// Secrets are sealed on their way in and opened on their way out.
    vault: Vault,
    disk_reserve_bytes: u64,
    run: open::Run,
    /// Last, so that the next process may take it only when all files are closed.
    directory: DataDirectory,
}

impl SqliteStore {
    /// Opens the store of a data directory, making it if there is none.
    pub fn open(directory: DataDirectory, vault: Vault, options: SqliteOptions) -> Result<Self, OpenError> {
        open::open(directory, vault, options)
    }

    /// Writes on the caller's own thread: the engine has one for this, and a hand-over to another would cost two
    /// switches a commit and wake the caller for everything that arrives meanwhile.
    fn write<T>(&self, work: impl FnOnce(&mut Writer) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let mut writer = self.writer()?;
        let done = work(&mut writer).map_err(|error| error::store_error(&error));
        let done = done.and_then(|done| writer.check_places().map(|()| done));
        if let Err(StoreError::Broken(cause)) = &done {
            writer.distrust(cause);
        }
        done
    }

    /// The writer, unless what it wrote before is in doubt.
    fn writer(&self) -> Result<MutexGuard<'_, Writer>, StoreError> {
        let broken = |_| StoreError::Broken("an earlier write broke off inside".into());
        let writer = self.writer.lock().map_err(broken)?;
        writer.trusted()?;
        Ok(writer)
    }
}

impl Drop for SqliteStore {
    /// Once nobody reads any more all logs can be brought in. One that cannot be is left as it is, for the next start.
    fn drop(&mut self) {
        self.readers.stop();
        if let Ok(mut writer) = self.writer() {
            writer.finish();
        }
        if let Ok(mut writer) = self.writer() {
            writer.bring_logs_in();
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn commit(&self, batch: Arc<Batch>) -> Result<Receipt, StoreError> {
        self.write(|writer| writer.commit(&batch))
    }

    async fn load_keys(
        &self,
        destination: DestinationId,
        after: Option<OrderKey>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        self.readers.run(move |reader| rows::load_keys(reader, destination, after, limit)).await
    }

    async fn load(&self, line: Line, limit: usize) -> Result<Page, StoreError> {
        self.readers.run(move |reader| rows::load(reader, line, limit)).await
    }

    async fn lines(&self) -> Result<Vec<LineDepth>, StoreError> {
        self.readers.run(rows::lines).await
    }

    async fn interrupted_starts(&self) -> Result<Vec<Start>, StoreError> {
        let unclean_stops = self.run.unclean_stops;
        self.readers.run(move |reader| starts::interrupted(reader, unclean_stops)).await
    }

    async fn content(&self, event: EventId) -> Result<Option<EventContent>, StoreError> {
        let room = self.readers.room().await?;
        // From here on nobody can give up before what is asked is served.
        let put = self.contents.put(event);
        if put.must_serve {
            let contents = Arc::clone(&self.contents);
            room.send(Box::new(move |reader| history::serve_contents(reader, &contents)));
        }
        put.answer.await.unwrap_or_else(|_| Err(reader::lost()))
    }

    async fn configure(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        self.write(|writer| writer.configure(&changes, &self.vault))
    }

    async fn configuration(&self) -> Result<Configuration, StoreError> {
        let rows = self.readers.run(configuration::read).await?;
        let mut configuration = Configuration {
            circuits: rows.circuits,
            id_floor: rows.id_floor,
            unclean_stop: self.run.unclean_stop,
            ..Configuration::default()
        };
        for document in &rows.documents {
            let added = configuration.add(document, &self.vault);
            added.map_err(|bad| StoreError::Broken(bad.to_string()))?;
        }
        Ok(configuration)
    }

    async fn keep_circuits(&self, circuits: Vec<(DestinationId, CircuitRecord)>) -> Result<(), StoreError> {
        self.write(|writer| writer.keep_circuits(&circuits))
    }

    async fn release(&self, destination: DestinationId) -> Result<Depth, StoreError> {
        self.write(|writer| writer.release(destination))
    }

    async fn bury(
        &self,
        destination: DestinationId,
        now: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        self.write(|writer| writer.bury(destination, now, limit))
    }

    async fn events(&self, query: EventQuery) -> Result<EventPage, StoreError> {
        self.readers.run_for_people(Some(query.account), move |reader| listing::events(reader, &query)).await
    }

    async fn event(&self, account: AccountId, event: EventId) -> Result<Option<EventDetail>, StoreError> {
        self.readers.run_for_people(Some(account), move |reader| history::event(reader, account, event)).await
    }

    async fn event_of(
        &self,
        account: AccountId,
        delivery: DeliveryId,
    ) -> Result<Option<EventDetail>, StoreError> {
        let find = move |reader: &mut Reader| history::event_of(reader, account, delivery);
        self.readers.run_for_people(Some(account), find).await
    }

    async fn stats(&self, account: Option<AccountId>) -> Result<Stats, StoreError> {
        self.readers.run_for_people(account, move |reader| stats::read(reader, account)).await
    }

    async fn dead_letters(&self, query: DeadLetterQuery) -> Result<DeadLetterPage, StoreError> {
        let (order, whose) = (query.order, Some(query.account));
        let list = move |reader: &mut Reader| dead_letters::list(reader, &query);
        match order.is_for_people() {
            true => self.readers.run_for_people(whose, list).await,
            false => self.readers.run(list).await,
        }
    }

    async fn dead_letter_groups(
        &self,
        account: AccountId,
        limit: usize,
    ) -> Result<DeadLetterGroups, StoreError> {
        let count = move |reader: &mut Reader| dead_letter_groups::count(reader, account, limit);
        self.readers.run_for_people(Some(account), count).await
    }

    async fn revive(
        &self,
        account: AccountId,
        revivals: Vec<Revival>,
        now: Timestamp,
    ) -> Result<OwedAgain, StoreError> {
        self.write(|writer| writer.revive(account, &revivals, now))
    }

    async fn discard(
        &self,
        account: AccountId,
        letters: Vec<DeadLetterKey>,
        now: Timestamp,
    ) -> Result<Discarded, StoreError> {
        self.write(|writer| writer.discard(account, &letters, now))
    }

    async fn put_replay(&self, replay: Replay) -> Result<(), StoreError> {
        self.write(|writer| writer.put_replay(&replay))
    }

    async fn record(&self, record: AuditRecord) -> Result<(), StoreError> {
        self.write(|writer| writer.record(&record))
    }

    async fn audit(&self, query: AuditQuery) -> Result<AuditPage, StoreError> {
        self.readers.run_for_people(query.account, move |reader| audit_log::list(reader, &query)).await
    }

    async fn replays(&self) -> Result<Vec<Replay>, StoreError> {
        self.readers.run(replays::all).await
    }

    fn sessions(&self) -> &dyn SessionStore {
        self
    }

    async fn maintain(&self, now: Timestamp) -> Result<(), StoreError> {
        // A new segment may fail for want of the very space that is freed here.
        let rotated = self.write(|writer| writer.rotate(now));
        let candidates = self.readers.run(retention::candidates).await?;
        let dropped = self.write(|writer| writer.drop_segments(now, &candidates));
        self.readers.let_go_of_dropped();
        rotated.and(dropped)
    }

    async fn writable(&self) -> Result<(), StoreError> {
        if open::free_bytes(self.directory.path())? < self.disk_reserve_bytes.max(open::FREE_BYTES_LEAST) {
            return Err(StoreError::Full);
        }
        Ok(())
    }

    async fn keep_series(&self, points: Vec<SeriesPoint>) -> Result<(), StoreError> {
        self.write(|writer| writer.keep_series(&points))
    }

    async fn series(&self, ring: Ring, since: u64) -> Result<Vec<SeriesPoint>, StoreError> {
        self.readers.run_for_people(None, move |reader| series::read(reader, ring, since)).await
    }

    async fn own_point(&self, ring: Ring, point: u64) -> Result<Option<Moment>, StoreError> {
        self.readers.run(move |reader| series::read_one(reader, ring, point)).await
    }

    async fn space(&self) -> Result<Space, StoreError> {
        let directory = self.directory.path();
        Ok(Space {
            used_bytes: open::used_bytes(directory),
            free_bytes: Some(open::free_bytes(directory)?),
            reserve_bytes: Some(self.disk_reserve_bytes),
        })
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.writer()?.finish();
        // What failed in that is met here, and at the end what failed in bringing logs in.
        self.write(Writer::note_stop)?;
        self.writer()?.bring_logs_in();
        self.writer().map(drop)
    }
}
