//! Taking events in: the bytes as they came, once each, to everyone who is owed them.

mod bytes;
mod doors;
pub(crate) mod fan_out;
mod idempotency;
mod ingress;
mod signatures;
mod tasks;
mod webhooks;
