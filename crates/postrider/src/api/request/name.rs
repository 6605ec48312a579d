//! Bodies that hold nothing.

use utoipa::ToSchema;

/// An empty object, or no body at all.
#[derive(ToSchema)]
pub(crate) struct Nothing {}
