//! A log as it lies on the disk: a head, and frames of a page each, every one with a sum over all before it.

use super::index::word_sum;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

const HEAD_BYTES: u64 = 32;
const FRAME_HEAD_BYTES: usize = 24;
/// With its last bit set, sums are made of words with their greatest byte first.
const MAGIC: u32 = 0x377f_0682;
const PAGE_BYTES: std::ops::RangeInclusive<u32> = 512..=65_536;

#[derive(Debug)]
pub(super) enum Log {
    /// Nothing was written to it yet, or it was cut to nothing.
    Empty,
    HeadDamaged,
    Frames(Frames),
}

#[derive(Debug, Default)]
pub(super) struct Frames {
    /// By which frames of this age are told from those of before the log was begun anew.
    pub(super) salts: [u8; 8],
    page_bytes: u32,
    /// Up to the last commit that can be read.
    pub(super) whole: u32,
    /// There is more of this age behind them.
    pub(super) has_tail: bool,
    /// Where the last two commits behind a bad frame end; 0 where there is none.
    commits_behind: [u32; 2],
}

impl Frames {
    pub(super) fn whole_bytes(&self) -> u64 {
        HEAD_BYTES + u64::from(self.whole) * (FRAME_HEAD_BYTES as u64 + u64::from(self.page_bytes))
    }

    /// How many frames another commit came after.
    pub(super) fn followed(&self) -> u32 {
        self.commits_behind[0]
    }
}

impl Log {
    /// Reads all of it.
    pub(super) fn read(path: &Path) -> std::io::Result<Log> {
        let file = match File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Log::Empty),
            file => file?,
        };
        let (mut file, mut head) = (BufReader::with_capacity(1 << 18, file), [0; HEAD_BYTES as usize]);
        if !fill(&mut file, &mut head)? || head == [0; HEAD_BYTES as usize] {
            return Ok(Log::Empty);
        }
        match Head::parse(&head) {
            Some(head) => walk(&mut file, &head).map(Log::Frames),
            None => Ok(Log::HeadDamaged),
        }
    }
}

struct Head {
    word: fn([u8; 4]) -> u32,
    page_bytes: u32,
    salts: [u8; 8],
    sum: [u32; 2],
}

impl Head {
    fn parse(bytes: &[u8; HEAD_BYTES as usize]) -> Option<Head> {
        let magic = number(bytes, 0);
        let word = if magic & 1 == 1 { u32::from_be_bytes } else { u32::from_le_bytes };
        let sum = word_sum(&bytes[..24], [0; 2], word);
        let page_bytes = number(bytes, 8);
        let whole = magic & !1 == MAGIC
            && sum == [number(bytes, 24), number(bytes, 28)]
            && PAGE_BYTES.contains(&page_bytes)
            && page_bytes.is_power_of_two();
        let salts = bytes[16..24].try_into().expect("they are eight");
        whole.then_some(Head { word, page_bytes, salts, sum })
    }
}

fn walk(file: &mut impl Read, head: &Head) -> std::io::Result<Frames> {
    let mut found = Frames { salts: head.salts, page_bytes: head.page_bytes, ..Frames::default() };
    let mut frame = vec![0; FRAME_HEAD_BYTES + head.page_bytes as usize];
    let (mut sum, mut is_whole, mut number_of) = (head.sum, true, 0);
    while fill(file, &mut frame)? {
        number_of += 1;
        let same_age = frame[8..16] == head.salts;
        sum = word_sum(&frame[FRAME_HEAD_BYTES..], word_sum(&frame[..8], sum, head.word), head.word);
        is_whole &= same_age && number(&frame, 0) > 0 && sum == [number(&frame, 16), number(&frame, 20)];
        let is_commit = same_age && number(&frame, 4) > 0;
        match (is_whole, is_commit) {
            (true, true) => found.whole = number_of,
            (false, true) => found.commits_behind = [found.commits_behind[1], number_of],
            _ => {}
        }
        found.has_tail |= same_age && found.whole < number_of;
        if found.whole == number_of {
            found.has_tail = false;
        }
    }
    Ok(found)
}

/// Fills a buffer; `false` when there is less left.
fn fill(from: &mut impl Read, into: &mut [u8]) -> std::io::Result<bool> {
    match from.read_exact(into) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("they are four"))
}
