//! Counts the frames of HTTP/2 that come, before they are read by hyper, which reads as many as there are.

use super::super::allowance::Allowance;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Length, type, flags and stream (RFC 9113, 4.1).
const HEAD_BYTES: usize = 9;
/// The place of the type in a head.
const TYPE: usize = 3;
/// Frames with compressed headers: HEADERS, PUSH_PROMISE, CONTINUATION. A few bytes of them can stand for kilobytes.
const WITH_HEADERS: [u8; 3] = [1, 5, 9];
/// What one of them costs, where another frame costs one.
const HEADERS_COST: u64 = 16;

/// A stream of which every frame counts.
pub(super) struct Frames<S> {
    stream: S,
    allowance: Arc<Allowance>,
    place: Place,
}

/// Where in a frame the bytes that come next are.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In its head, of which so much is here.
    Head([u8; HEAD_BYTES], usize),
    /// So far from its end.
    Payload(usize),
}

impl Place {
    const BEGIN: Place = Place::Head([0; HEAD_BYTES], 0);

    /// Goes over these bytes; gives what the frames cost whose heads end in them.
    fn pass(&mut self, mut bytes: &[u8]) -> u64 {
        let mut cost = 0;
        while !bytes.is_empty() {
            match self {
                Place::Head(head, here) => {
                    let taken = bytes.len().min(HEAD_BYTES - *here);
                    head[*here..*here + taken].copy_from_slice(&bytes[..taken]);
                    *here += taken;
                    bytes = &bytes[taken..];
                    if *here == HEAD_BYTES {
                        cost += if WITH_HEADERS.contains(&head[TYPE]) { HEADERS_COST } else { 1 };
                        *self = Place::payload([head[0], head[1], head[2]]);
                    }
                }
                Place::Payload(left) => {
                    let taken = bytes.len().min(*left);
                    *left -= taken;
                    bytes = &bytes[taken..];
                    if *left == 0 {
                        *self = Place::BEGIN;
                    }
                }
            }
        }
        cost
    }

    fn payload([a, b, c]: [u8; 3]) -> Self {
        match u32::from_be_bytes([0, a, b, c]) as usize {
            0 => Place::BEGIN,
            length => Place::Payload(length),
        }
    }
}

impl<S> Frames<S> {
    pub(super) fn new(stream: S, allowance: Arc<Allowance>) -> Self {
        Frames { stream, allowance, place: Place::BEGIN }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Frames<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let cost = self.place.pass(&buffer.filled()[before..]);
        Poll::Ready(self.allowance.receive_frames(cost))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Frames<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(kind: u8, length: usize) -> Vec<u8> {
        let length_bytes = (length as u32).to_be_bytes();
        let head = [length_bytes[1], length_bytes[2], length_bytes[3], kind, 0, 0, 0, 0, 1];
        [&head[..], &vec![0xff; length]].concat()
    }

    proptest! {
        #[test]
        fn frames_cost_the_same_in_whichever_pieces_they_come(
            frames in prop::collection::vec((0..12_u8, 0..70_usize), 0..20),
            mut cuts in prop::collection::vec(0..1500_usize, 0..8),
        ) {
            let bytes: Vec<u8> = frames.iter().flat_map(|(kind, length)| frame(*kind, *length)).collect();
            let expected: u64 =
                frames.iter().map(|(kind, _)| if [1, 5, 9].contains(kind) { HEADERS_COST } else { 1 }).sum();
            cuts.sort_unstable();
            let (mut place, mut cost, mut from) = (Place::BEGIN, 0, 0);
            for to in cuts.into_iter().map(|cut| cut.min(bytes.len())).chain([bytes.len()]) {
                cost += place.pass(&bytes[from..to]);
                from = to;
            }
            prop_assert_eq!(cost, expected);
        }
    }
}
