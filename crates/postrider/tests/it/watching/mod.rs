//! What an operator sees: metrics, alerts and readiness, each held against a gateway that is really in that trouble.

mod access;
mod alerts;
mod deployed;
mod lag;
mod log;
mod metrics;
pub(crate) mod prometheus;
mod readiness;
pub(crate) mod samples;
mod series;
mod unwritable_log;

pub(crate) use samples::Samples;
