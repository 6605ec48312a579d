//! What can go wrong in a store, by what the caller does about it.

/// Why a store could not do what was asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// No room: nothing was written. It works again when there is space.
    #[error("the disk is full")]
    Full,
    /// Not now: nothing was written. Trying again later may work.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// Too many queries wait already: this one was not begun.
    #[error("too many queries wait already")]
    Crowded,
    /// Another node has taken this one for dead, and its shards over: nothing was written. What is its own when it has begun
    /// anew may be given again.
    #[error("another node took over from this node; nothing was written")]
    Fenced,
    /// Something of another node, with an id up to this one, is in an ordered line before which these events would go: nothing was
    /// written. With greater ids they follow it.
    #[error("another node was faster, up to id {0}")]
    Overtaken(u64),
    /// This one thing cannot be read any more, or is not what was written; all else can be.
    #[error("what is stored is damaged: {0}")]
    Damaged(String),
    /// What is on disk can no longer be trusted from here: the process must stop and start anew.
    /// A failed sync is never tried again, since the kernel may have dropped the pages it was for.
    #[error("the store failed: {0}")]
    Broken(String),
}
