//! Sends: one attempt is one HTTP exchange with one deadline over all of it.

pub mod address_guard;
mod attempt;
mod bounded_stream;
mod connect;
mod exchange;
mod passed_on;
mod pool;
mod preview;
mod request;
mod signature;
mod target;
mod worker;

pub use address_guard::AddressGuard;
pub use connect::{Connector, tls_config};
pub use preview::Preview;
pub use signature::{BadSecret, SigningSecret};
pub use target::{BadUrl, DestinationUrl, Target};
pub use worker::SendWorker;

pub(crate) use attempt::{AttemptReport, Job, Rewrite};
pub(crate) use passed_on::passed_on;
pub(crate) use preview::preview;
pub(crate) use worker::{WorkerHandle, here};
