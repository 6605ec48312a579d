//! How much room a store takes and has.

/// How much room a store takes and has, as far as it can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// What it takes.
    pub used_bytes: u64,
    /// What is free where it is.
    pub free_bytes: Option<u64>,
    /// Below which no event is accepted.
    pub reserve_bytes: Option<u64>,
}
