//! The index of a log (`-shm`): memory that processes share, and that a file keeps when they are killed. It is written
//! when a commit is safe, so what it counts is in the log.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

const VERSION: u32 = 3_007_000;
const HEAD_BYTES: usize = 48;
/// The head twice, then how many frames were moved into the database.
const READ_BYTES: usize = 2 * HEAD_BYTES + 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Index {
    /// Of the log that it is for.
    pub(super) salts: [u8; 8],
    /// In the log, up to the last commit.
    pub(super) frames: u32,
    /// Of these, already in the database.
    pub(super) moved: u32,
}

impl Index {
    /// None when there is none, or it tells nothing.
    pub(super) fn read(path: &Path) -> std::io::Result<Option<Index>> {
        let mut bytes = Vec::with_capacity(READ_BYTES);
        match File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file?.take(READ_BYTES as u64).read_to_end(&mut bytes)?,
        };
        if bytes.len() < READ_BYTES {
            return Ok(None);
        }
        let moved = number(&bytes, 2 * HEAD_BYTES);
        let heads = [&bytes[..HEAD_BYTES], &bytes[HEAD_BYTES..2 * HEAD_BYTES]];
        // One of them may have been cut off in the middle of its writing.
        Ok(heads.into_iter().filter_map(|head| parse(head, moved)).max_by_key(|index| index.frames))
    }
}

/// Numbers are as the machine writes them.
fn parse(head: &[u8], moved: u32) -> Option<Index> {
    let is_begun = head[12] == 1;
    let sum = word_sum(&head[..40], [0; 2], u32::from_ne_bytes);
    let is_whole = number(head, 0) == VERSION && is_begun && sum == [number(head, 40), number(head, 44)];
    let salts = head[32..40].try_into().expect("they are eight");
    is_whole.then(|| Index { salts, frames: number(head, 16), moved })
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("they are four"))
}

/// SQLite's sum over pairs of words, which goes on from the one before.
pub(super) fn word_sum(
    bytes: &[u8],
    [mut first, mut second]: [u32; 2],
    word: fn([u8; 4]) -> u32,
) -> [u32; 2] {
    for pair in bytes.chunks_exact(8) {
        let (one, two) = pair.split_at(4);
        first = first.wrapping_add(word(one.try_into().expect("they are four"))).wrapping_add(second);
        second = second.wrapping_add(word(two.try_into().expect("they are four"))).wrapping_add(first);
    }
    [first, second]
}
