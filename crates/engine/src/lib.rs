//! What Postrider does: takes events in, hands them to their destinations, and records what became of them.
//!
//! It names no database: everything durable goes through the `Store` trait, and everything decided through core.

mod admission;
mod beat;
mod body_measure;
mod catalog;
mod clock;
mod contained_tasks;
mod content_cache;
mod dead_letter_file;
mod dead_letter_line;
mod dead_letters;
mod dispatch;
mod dry_run;
mod engine;
mod event_types;
mod expression;
mod filter;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod ingest;
mod known_key;
mod lease;
mod live;
mod maintenance;
mod meters;
mod operational;
mod pause;
pub mod proxy_headers;
mod replay;
mod rewrite;
mod routing;
mod schema;
pub mod send;
mod series;
mod store_health;
mod traces;
pub mod verify;

pub use admission::{BacklogLimits, Limit};
pub use beat::keep_beating;
pub use catalog::{Catalog, Entrance};
pub use clock::Clock;
pub use contained_tasks::ContainedTasks;
pub use dead_letter_file::DeadLetterFile;
pub use dead_letter_line::DeadLetterLine;
pub use dead_letters::{DeadLetters, Revived};
pub use dry_run::{Judged, Taking, Verdict};
pub use engine::{
    Activity, ChangeError, ClusterQueue, ConsentError, DeliveryItem, DeliveryPage, DeliveryQuery,
    EndingCertificate, Engine, EngineOptions, Fault, Limits, Missed, NotReady, Offered, Queue, QueueTotals,
    Replayed, Standing, StopReport, Stretch, Trial, TrialError, TrialReport, Waiting,
};
pub use event_types::EventTypes;
pub use expression::{BadExpression, Expression, Failure, Transform, Wants};
pub use ingest::{Accepted, Arrival, IngestError, storable_headers};
pub use known_key::KnownKey;
pub use live::{
    AcceptedEvent, AttemptMade, CircuitMove, Crowded, Death, DestinationChange, EventMarks, Happening,
    HappeningKind, LiveFilter, Told, Watch,
};
pub use meters::{
    CIRCUITS, Counter, DestinationHealth, DestinationLatency, Histogram, HistogramView, Meters, Shed,
    ShedCause, ShortageSeen, Shortages, circuit_index,
};
pub use replay::{ReplayChange, ReplayError, Replays};
pub use schema::{BadSchema, Mismatch, Schema};
pub use store_health::StoreHealth;
pub use traces::{SampleRatio, Spans, trace_request_head};

pub use engine::Seen;
