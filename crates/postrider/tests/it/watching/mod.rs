//! What an operator sees: metrics, alerts and readiness, each held against a gateway that is really in that trouble.

mod access;
mod deployed;
mod metrics;
mod readiness;
mod samples;
mod series;

pub(crate) use samples::Samples;
