//! What a store promises: the trait in domain verbs, the records it keeps, a store in memory, and the
//! conformance suite that every implementation passes.

mod activity;
mod attempt;
mod audit;
mod batch;
mod cluster;
mod cluster_state;
pub mod codec;
mod configuration;
pub mod conformance;
pub mod containment;
mod dead_letter;
mod dead_letter_filter;
mod dead_letter_groups;
mod delivery_audit;
mod error;
mod event;
mod event_filter;
mod fan_out;
mod field_place;
pub mod gather;
mod headers;
mod health;
pub mod heartbeat;
mod list_scan;
mod memory;
mod origin;
mod query;
mod replay;
mod series;
mod session;
mod space;
mod standing;
mod start;
mod stats;
pub mod transfer;
mod turns;
mod vault;

pub use activity::{Elsewhere, InFlight, NodeActivity, Others, TellOf};
pub use attempt::{Attempt, ErrorKind, Problem, Timing};
pub use audit::{AuditPage, AuditQuery, AuditRecord, Author, Way};
pub use batch::{Acceptance, Batch, Finished, GivenUp, Idempotency, NewDelivery, NewEvent, Receipt};
pub use cluster::{Gained, Mail, News, Shard, Shards};
pub use cluster_state::{ClusterState, Durability, NodeState, NodeSummary, ShardState};
pub use configuration::{
    Account, ApiKey, Brand, BrandTimes, Change, ClientCertificate, Configuration, DescribedType, Destination,
    DestinationAuth, DestinationStatus, DestinationTls, Handshake, PreviousKeys, PrivateKeyText, Route,
    Scope, SignatureVersions, Signing, Source, Verification,
};
pub use dead_letter::{
    DeadLetter, DeadLetterKey, DeadLetterOrder, DeadLetterPage, DeadLetterPosition, DeadLetterQuery,
    Discarded, OwedAgain, Revival,
};
pub use dead_letter_filter::{DeadLetterFilter, FILTER_FIELDS};
pub use dead_letter_groups::{DeadLetterGroup, DeadLetterGroups};
pub use delivery_audit::{AuditedQueue, DeliveryAudit, QueuedDelivery};
pub use error::StoreError;
pub use event::{DeliveryState, EventContent, EventDetail};
pub use event_filter::{EventFacts, EventFilter};
pub use fan_out::{FanOut, LeftOut};
pub use field_place::FieldPlace;
pub use headers::Headers;
pub use health::{HEALTH_MINUTES, Health, HealthMinute, ToldHealth};
pub use list_scan::{ListScan, NUMBERED_WITHIN};
pub use memory::MemoryStore;
pub use origin::{Direction, Origin, SendWindow};
pub use query::{EventPage, EventQuery, EventStatus, LineDepth, Page};
pub use replay::{Replay, ReplayState};
pub use series::{LATENCY_BOUNDS_MS, LatencyCounts, Moment, Ring, SeriesPoint};
pub use session::{KeptSecret, SESSION_BYTES, SessionRecord, SessionStore};
pub use space::Space;
pub use standing::{Dead, Followed, Owing, Standings};
pub use start::Start;
pub use stats::{Counts, Owed, Stats, StatsChange};
pub use turns::{Turn, Turns};
pub use vault::{NotOpened, VAULT_KEY_BYTES, Vault};

use async_trait::async_trait;
use postrider_core::breaker::CircuitRecord;
use postrider_core::delivery::{Line, OrderKey};
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId};
use postrider_core::scheduler::Depth;
use postrider_core::time::Timestamp;
use std::sync::Arc;

/// Where events, what is owed for them and what became of it are kept.
///
/// One engine owns a store. What is owed is exactly what is in the queue: after any crash nothing needs repair.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Writes a batch durably and whole: events with all they owe, and outcomes with what follows from them.
    /// When this returns `Ok`, everything in it survives a crash; when it returns `Err`, none of its events
    /// is owed to anyone, and the same outcomes may be given again. What other nodes have put into an ordered line is before
    /// these events: whose ids are less is told by [`StoreError::Overtaken`]. It may hold up the calling thread for as long
    /// as a sync takes, so it is called from a thread that has nothing more urgent to do.
    async fn commit(&self, batch: Arc<Batch>) -> Result<Receipt, StoreError>;

    /// The first `limit` deliveries of a line, in order of their place.
    async fn load(&self, line: Line, limit: usize) -> Result<Page, StoreError>;

    /// The first `limit` deliveries of an ordered lane's keys greater than `after`, key by key, each in its order.
    async fn load_keys(
        &self,
        destination: DestinationId,
        after: Option<OrderKey>,
        limit: usize,
    ) -> Result<Page, StoreError>;

    /// Every line with something owed, and how much. The keys of an ordered lane are one line, [`OrderKey::WHOLE`].
    async fn lines(&self) -> Result<Vec<LineDepth>, StoreError>;

    /// Starts that were noted and not forgotten when the last unclean stop came, each with that one among its stops. A
    /// delivery that was queued at that stop is not among them, whatever it was in flight at before.
    async fn interrupted_starts(&self) -> Result<Vec<Start>, StoreError>;

    /// An event as it must be sent; `None` when retention has dropped it.
    async fn content(&self, event: EventId) -> Result<Option<EventContent>, StoreError>;

    /// Changes the configuration, all or nothing.
    async fn configure(&self, changes: Vec<Change>) -> Result<(), StoreError>;

    /// The whole configuration.
    async fn configuration(&self) -> Result<Configuration, StoreError>;

    /// Notes where circuits stand for the next run. It outlives the process; a power cut may lose the last moments.
    async fn keep_circuits(&self, circuits: Vec<(DestinationId, CircuitRecord)>) -> Result<(), StoreError>;

    /// Takes the heads that block ordered lines of a destination out of the queue; gives how much that was.
    async fn release(&self, destination: DestinationId) -> Result<Depth, StoreError>;

    /// Turns up to `limit` of what a deleted destination was owed into dead letters; gives how many.
    async fn bury(
        &self,
        destination: DestinationId,
        now: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError>;

    /// Events of an account, newest first, with at most [`LIST_BODY_BYTES_MAX`] of each body, as many of its deliveries as
    /// the query says, and without attempts.
    /// With a filter, at most [`SCAN_EVENTS_MAX`] are looked through; the page says when that was not all.
    ///
    /// [`LIST_BODY_BYTES_MAX`]: postrider_core::limits::LIST_BODY_BYTES_MAX
    /// [`SCAN_EVENTS_MAX`]: postrider_core::limits::SCAN_EVENTS_MAX
    async fn events(&self, query: EventQuery) -> Result<EventPage, StoreError>;

    /// One event with its deliveries and its last [`ATTEMPTS_SHOWN_MAX`] attempts, oldest first; `None` when the account
    /// has no such event.
    ///
    /// [`ATTEMPTS_SHOWN_MAX`]: postrider_core::limits::ATTEMPTS_SHOWN_MAX
    async fn event(&self, account: AccountId, event: EventId) -> Result<Option<EventDetail>, StoreError>;

    /// The event that a delivery is owed for, as [`Store::event`] shows it but with the attempts of this delivery alone;
    /// `None` when the account has no such delivery.
    async fn event_of(
        &self,
        account: AccountId,
        delivery: DeliveryId,
    ) -> Result<Option<EventDetail>, StoreError>;

    /// What an account came to, or all of them together. No event is looked at for it.
    async fn stats(&self, account: Option<AccountId>) -> Result<Stats, StoreError>;

    /// Notes points of the rings, each in the place of the one that is a ring older. They outlive the process; a power cut
    /// may lose the last moments.
    async fn keep_series(&self, points: Vec<SeriesPoint>) -> Result<(), StoreError>;

    /// The points of a ring from this one on, oldest first, of all nodes together.
    async fn series(&self, ring: Ring, since: u64) -> Result<Vec<SeriesPoint>, StoreError>;

    /// A point as this node has noted it, to go on with after a restart.
    async fn own_point(&self, ring: Ring, point: u64) -> Result<Option<Moment>, StoreError>;

    /// Dead letters of an account, without those that were discarded.
    async fn dead_letters(&self, query: DeadLetterQuery) -> Result<DeadLetterPage, StoreError>;

    /// All dead letters of an account by destination and cause, the largest groups first, at most `limit` of them. Those
    /// that were discarded are not counted.
    async fn dead_letter_groups(
        &self,
        account: AccountId,
        limit: usize,
    ) -> Result<DeadLetterGroups, StoreError>;

    /// Makes dead letters of an account owed again, due now: each is a row of the queue afterwards and no dead
    /// letter any more. What is no dead letter (any more) is left out, so nothing is ever owed
    /// twice; what blocked an ordered line is due there again. A store that fails in the middle says what is owed by then:
    /// who finds some left asks for them again, and meets the error.
    async fn revive(
        &self,
        account: AccountId,
        revivals: Vec<Revival>,
        now: Timestamp,
    ) -> Result<OwedAgain, StoreError>;

    /// Takes dead letters of an account out of all lists, for good; what blocked an ordered line blocks it no
    /// longer. Their deliveries stay given up on in the history of their events. A store that fails in the middle says
    /// what is gone by then, as with `revive`.
    async fn discard(
        &self,
        account: AccountId,
        letters: Vec<DeadLetterKey>,
        now: Timestamp,
    ) -> Result<Discarded, StoreError>;

    /// Makes or replaces a replay. Of those of an account that are ended, the newest [`REPLAYS_ENDED_MAX`] are kept.
    ///
    /// [`REPLAYS_ENDED_MAX`]: postrider_core::limits::REPLAYS_ENDED_MAX
    async fn put_replay(&self, replay: Replay) -> Result<(), StoreError>;

    /// Notes how far a replay came, and that it is done, unless somebody paused or cancelled it meanwhile. Gives the
    /// replay as it is then; `None` when there is no such replay any more.
    async fn note_replay(&self, replay: Replay) -> Result<Option<Replay>, StoreError> {
        self.put_replay(replay.clone()).await?;
        Ok(Some(replay))
    }

    /// All replays, oldest first.
    async fn replays(&self) -> Result<Vec<Replay>, StoreError>;

    /// Notes a change that is not one of the configuration. Those of the configuration are noted with
    /// [`Change::Record`], in the transaction that makes them.
    async fn record(&self, record: AuditRecord) -> Result<(), StoreError>;

    /// Who changed what, newest first. Of an account the newest [`AUDIT_RECORDS_MAX`] are kept.
    ///
    /// [`AUDIT_RECORDS_MAX`]: postrider_core::limits::AUDIT_RECORDS_MAX
    async fn audit(&self, query: AuditQuery) -> Result<AuditPage, StoreError>;

    /// Who is signed in.
    fn sessions(&self) -> &dyn SessionStore;

    /// Drops history past its retention and does other housekeeping; called now and then.
    async fn maintain(&self, now: Timestamp) -> Result<(), StoreError>;

    /// Whether events can be accepted now; the reason when not.
    async fn writable(&self) -> Result<(), StoreError>;

    /// How much room it takes and has.
    async fn space(&self) -> Result<Space, StoreError>;

    /// Whether other nodes work on the same data. Then this one owns only what it hears in the news to be its own.
    fn is_shared(&self) -> bool {
        false
    }

    /// The time by which all nodes of a store go; `None` for a store of one, which goes by its own.
    async fn time(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(None)
    }

    /// The next news from the other nodes. A store of one node has none.
    async fn news(&self) -> News {
        std::future::pending().await
    }

    /// Gives up shards of which this node has nothing in flight, so that others can take them at once. Of those that are not
    /// `clean` an attempt of an earlier owner, which was cut off, may still be going on.
    async fn hand_over(&self, _shards: Shards, _clean: Shards) -> Result<(), StoreError> {
        Ok(())
    }

    /// Tells the owner of a destination that is not this node's own of an operator's word.
    async fn send_mail(&self, _mail: Mail) -> Result<(), StoreError> {
        Ok(())
    }

    /// Begins a change of the configuration: no other node makes one until this one has, with `configure`. It is to
    /// be decided on the version that is given, which is in the news by then.
    async fn begin_change(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Tells the other nodes what this one is doing. It may be lost: nothing that must be exact is decided by it.
    async fn tell_activity(&self, _told: NodeActivity) -> Result<(), StoreError> {
        Ok(())
    }

    /// What the other nodes told last.
    async fn others(&self, _of: TellOf) -> Result<Others, StoreError> {
        Ok(Others::default())
    }

    /// Tells the other nodes how attempts of this one went. It may be lost too.
    async fn tell_health(&self, _told: Vec<ToldHealth>) -> Result<(), StoreError> {
        Ok(())
    }

    /// How attempts of other nodes went at these destinations within the last hour, those of nodes that have stopped
    /// among them. One that several have sent to may be told more than once.
    async fn health_elsewhere(
        &self,
        _of: Vec<DestinationId>,
    ) -> Result<Vec<(DestinationId, Health)>, StoreError> {
        Ok(Vec::new())
    }

    /// The destinations of an account that other nodes made most attempts at within the last hour, at most so many.
    async fn busiest_elsewhere(
        &self,
        _of: AccountId,
        _most: usize,
    ) -> Result<Vec<DestinationId>, StoreError> {
        Ok(Vec::new())
    }

    /// Who else there is, and how much is owed by them as they told last.
    async fn elsewhere(&self) -> Result<Elsewhere, StoreError> {
        Ok(Elsewhere::default())
    }

    /// Who shares the store, and who owns what of it; `None` when it is one node's own.
    async fn cluster(&self) -> Result<Option<ClusterState>, StoreError> {
        Ok(None)
    }

    /// What a shared store's server makes of a commit, as far as it was asked; `None` when the store is one node's own.
    fn durability(&self) -> Option<Durability> {
        None
    }

    /// Notes an orderly stop. Nothing may be in flight, and nothing is called after it.
    async fn close(&self) -> Result<(), StoreError>;
}
