//! Bodies that hold no more than a name, or nothing.

use utoipa::ToSchema;

/// A name.
#[derive(ToSchema)]
pub(crate) struct Named {
    /// Without control characters.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
}

/// An empty object, or no body at all.
#[derive(ToSchema)]
pub(crate) struct Nothing {}
