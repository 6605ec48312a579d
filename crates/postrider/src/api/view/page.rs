//! A page of a list that is counted.

use serde::Serialize;
use utoipa::ToSchema;

/// A page of a list, and how long the whole list is.
#[derive(Serialize, ToSchema)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) total: u64,
}
