//! Sends: one attempt is one HTTP exchange with one deadline over all of it.

pub mod address_guard;
mod allowance;
mod attempt;
mod certificates;
mod client_tls;
mod connect;
mod connection;
mod exchange;
mod fixed_headers;
mod hops;
mod http1;
mod http2;
mod id_header;
mod lookups;
mod made_bodies;
mod passed_on;
mod pool;
mod preview;
mod private_key;
mod receiver_socket;
mod request;
mod resolve;
mod sealed_headers;
mod shortage;
mod signature;
mod signer;
mod target;
mod timers;
mod worker;

pub use address_guard::{AddressGuard, Refusal};
pub use certificates::Certificates;
pub use client_tls::{BadTls, ClientTls};
pub use connect::{Connector, tls_config};
pub use hops::{HOPS_HEADER, HOPS_MAX, hops};
pub use id_header::ID_HEADER;
pub use preview::Preview;
pub use private_key::{BadPrivateKey, PrivateKey};
pub use resolve::{Resolve, SystemResolver};
pub use sealed_headers::{EventHeadersKey, SEALED_HEADERS};
pub use shortage::Shortage;
pub use signature::{BadSecret, SigningSecret};
pub use target::{BadUrl, DestinationUrl, Target};
pub use worker::SendWorker;

pub(crate) use attempt::{AttemptReport, Deferred, Job, Made, Report, Rewrite, Sender};
pub(crate) use exchange::Trace;
pub(crate) use made_bodies::MadeBodies;
pub(crate) use passed_on::passed_on;
pub(crate) use pool::{IdleMax, Pool};
pub(crate) use preview::preview;
pub(crate) use request::{ask_consent, build};
pub(crate) use timers::Timers;
#[cfg(test)]
pub(crate) use worker::stay_at;
pub(crate) use worker::{WorkerHandle, here};
