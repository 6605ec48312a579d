//! The store in memory.
pub struct MemoryStore;
