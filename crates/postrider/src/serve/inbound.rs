//! What comes from a client, as far as the server may see it: bytes that have one meaning, and heads that are whole.
//!
//! A head that is not whole is held back here, where its bytes are counted. The server would keep more for it, and would
//! count nothing.

use super::connections::HEAD_BYTES_MAX;
use super::framing::Framing;
use super::guarded_stream::SEEN_BYTES_MAX;
use crate::api::Held;
use bytes::Bytes;
use std::io::{self, ErrorKind};
use tokio::io::ReadBuf;

/// No byte of a head or of a chunk's size may be this one, so the server refuses what holds it with a 400.
const SPOILT: u8 = 0;

#[derive(Default)]
pub(super) struct Inbound {
    framing: Framing,
    is_spoilt: bool,
    /// The beginning of a head.
    head: Vec<u8>,
    held: Option<Held>,
    /// A head that was held back, whole, with what came behind it.
    whole: Bytes,
}

impl Inbound {
    /// Whether nothing of a request is there whose end is not.
    pub(super) fn is_between_requests(&self) -> bool {
        self.framing.is_between_requests() && !self.is_spoilt
    }

    /// Whether no more of it has a meaning.
    pub(super) fn is_spoilt(&self) -> bool {
        self.is_spoilt
    }

    /// Takes what was read, which fits into the buffer, and puts there what the server may see at once. At the first byte
    /// that has no single meaning this is a byte that has none at all.
    pub(super) fn take(&mut self, fresh: &mut [u8], into: &mut ReadBuf<'_>) -> io::Result<()> {
        if let Err(at) = self.framing.take(fresh) {
            fresh[at] = SPOILT;
            self.is_spoilt = true;
            self.pass_on(&fresh[..=at], into);
            return Ok(());
        }
        // One that is too long is the server's to refuse.
        let held = Some(self.framing.head_bytes()).filter(|bytes| *bytes < HEAD_BYTES_MAX).unwrap_or(0);
        let (whole, head) = fresh.split_at(fresh.len().saturating_sub(held));
        self.pass_on(whole, into);
        self.head.extend_from_slice(head);
        if self.head.is_empty() {
            return Ok(());
        }
        let held = self.held.get_or_insert_with(|| Held::nothing(None));
        held.grow_to(self.head.capacity()).map_err(|_| ErrorKind::OutOfMemory.into())
    }

    /// With the head before it, if one was held back: it is whole now.
    fn pass_on(&mut self, fresh: &[u8], into: &mut ReadBuf<'_>) {
        if self.head.is_empty() {
            into.put_slice(fresh);
        } else if !fresh.is_empty() {
            self.head.extend_from_slice(fresh);
            self.whole = std::mem::take(&mut self.head).into();
            self.held = None;
        }
    }

    /// Lets go of what was held back: there is nobody to see it any more.
    pub(super) fn forget(&mut self) {
        (self.head, self.held, self.whole) = (Vec::new(), None, Bytes::new());
    }

    /// Puts what was held back into the buffer, as far as it fits; whether there was any.
    pub(super) fn give(&mut self, into: &mut ReadBuf<'_>) -> bool {
        let whole = self.whole.split_to(self.whole.len().min(into.remaining()).min(SEEN_BYTES_MAX));
        into.put_slice(&whole);
        !whole.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the server sees of this text, read in steps of so many bytes, after each step.
    fn seen(text: &[u8], step: usize) -> Vec<usize> {
        let (mut inbound, mut passed, mut counts) = (Inbound::default(), Vec::new(), Vec::new());
        for fresh in text.chunks(step) {
            let mut buffer = vec![0; step];
            let mut into = ReadBuf::new(&mut buffer);
            inbound.take(&mut fresh.to_vec(), &mut into).unwrap();
            passed.extend_from_slice(into.filled());
            loop {
                let mut into = ReadBuf::new(&mut buffer);
                if !inbound.give(&mut into) {
                    break;
                }
                passed.extend_from_slice(into.filled());
            }
            counts.push(passed.len());
        }
        assert_eq!(passed, text[..passed.len()], "nothing is changed");
        counts
    }

    #[test]
    fn a_head_is_seen_once_it_is_whole_and_a_body_as_it_comes() {
        let head = b"POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\n".as_slice();
        let text = [head, b"body", b"GET / HTTP/1.1\r\n\r\n", b"GET / HT"].concat();
        for step in [1, 2, 3, 7, 100] {
            let counts = seen(&text, step);
            let held = text.len() - b"GET / HT".len();
            assert_eq!(*counts.last().unwrap(), held, "in steps of {step}");
            assert!(counts.iter().all(|count| *count == 0 || *count >= head.len()), "in steps of {step}");
        }
        assert_eq!(
            seen(&text, 1)[head.len()..head.len() + 3],
            [head.len() + 1, head.len() + 2, head.len() + 3]
        );
    }

    #[test]
    fn a_head_that_is_too_long_is_seen_and_no_longer_kept() {
        let text = [b"GET / HTTP/1.1\r\nx: ".to_vec(), vec![b'y'; 2 * HEAD_BYTES_MAX]].concat();
        let counts = seen(&text, 1000);
        assert_eq!(counts[HEAD_BYTES_MAX / 1000 - 1], 0);
        assert_eq!(*counts.last().unwrap(), text.len());
    }
}
