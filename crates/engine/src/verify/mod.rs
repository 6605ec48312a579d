//! Verifies what comes in: one configurable check over the raw bytes, and the presets of known providers.
//!
//! Pure: the time is an argument. Nothing of a body is parsed before its signature holds.

mod challenge;
mod config;
mod key;
mod pointer;
mod preset;
mod scheme;
mod sign;
mod template;
#[cfg(test)]
mod tests;
mod timestamp;
mod verifier;

pub use challenge::Challenge;
pub use config::{BadVerification, CONFIG_FIELDS};
pub use pointer::{Found, find};
pub use preset::{Needs, PRESETS, Preset};
pub use scheme::{Algorithm, Encoding};
pub use sign::CannotSign;
pub use verifier::{Incoming, Passed, Refusal, Verifier};
