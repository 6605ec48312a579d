//! Somebody at the receiver's door. A run in which one request was meddled with must be red, or the judge is blind.

/// What is done to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meddling {
    /// Its sender is told that it was taken, and the receiver never sees it.
    Drops,
    /// The receiver takes it, and sees it again.
    Doubles,
    /// It has a byte more.
    Changes,
}

/// What the sender of a request is told that nobody saw.
pub(super) const TAKEN: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
