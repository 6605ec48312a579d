//! Traces: one from the acceptance of an event to its last attempt, by W3C Trace Context.
//!
//! Ids follow from those of the event, the delivery and the attempt: so every node and every run of the gateway gives
//! the same to the same, and nothing is stored for it.

mod context;
mod protobuf;
mod span;

pub use context::SampleRatio;
pub(crate) use context::{TraceContext, span_of_attempt};
pub use protobuf::trace_request_head;
pub use span::Spans;
