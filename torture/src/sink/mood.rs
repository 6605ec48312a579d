//! How a receiver treats its requests: well, or as receivers do on bad days.

use crate::history::{Answer, Moment, SECOND};
use rustix::net::sockopt::set_socket_linger;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

/// A bad day of a receiver. Two of three requests get it, the others are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// Never answers.
    Hangs,
    /// Cuts the connection after it has read the request.
    Resets,
    /// Answers a byte of its headers at a time.
    DripsHeaders,
    /// Answers 200 and then a byte of its body at a time.
    DripsBody,
    /// Answers 500.
    Fails,
    /// Answers 429 and asks for a second.
    Throttles,
    /// Takes it, after most of a second.
    Dawdles,
}

impl Mood {
    /// All there are.
    pub const ALL: [Mood; 7] = [
        Mood::Hangs,
        Mood::Resets,
        Mood::DripsHeaders,
        Mood::DripsBody,
        Mood::Fails,
        Mood::Throttles,
        Mood::Dawdles,
    ];
}

/// The retry policy of every destination, without jitter.
pub(crate) const RETRY_DELAY: Duration = Duration::from_millis(300);
/// In the body of an event that is never taken where it is owed.
pub(crate) const POISON: &[u8] = b"\"poison\":true";

const DRIP: Duration = Duration::from_millis(100);
/// Long beside a restart, short beside the timeout of any destination.
const DAWDLE: Duration = Duration::from_millis(800);

/// How one request is answered.
pub(super) struct Reply {
    mood: Option<Mood>,
    work: Duration,
    /// When the request had been read. The answer says it, so that a record shows which request it is of.
    read: Moment,
}

/// `chance` decides as the same attempt of the same event. On a good day it takes less than `work_max`.
pub(super) fn reply(mood: Option<Mood>, body: &[u8], chance: u64, work_max: Duration, read: Moment) -> Reply {
    let work = Duration::from_micros(chance % work_max.as_micros() as u64);
    let is_poisoned = body.windows(POISON.len()).any(|window| window == POISON);
    let mood = if is_poisoned { Some(Mood::Fails) } else { mood.filter(|_| !chance.is_multiple_of(3)) };
    Reply { mood, work, read }
}

impl Reply {
    pub(super) fn again_after(&self) -> Moment {
        match self.mood {
            Some(Mood::Throttles) => SECOND,
            _ => RETRY_DELAY.as_micros() as Moment,
        }
    }

    /// Whether only the sender ends it.
    pub(super) fn ends_with_sender(&self) -> bool {
        matches!(self.mood, Some(Mood::Hangs | Mood::DripsHeaders | Mood::DripsBody))
    }

    /// Answers, and tells of the end before the answer's first byte; says whether the connection lives on.
    pub(super) fn play(&self, stream: &TcpStream, ended: impl FnOnce(Answer)) -> std::io::Result<bool> {
        match self.mood {
            None => self.answer(stream, self.work, "200 Taken", || ended(Answer::Taken)),
            Some(Mood::Dawdles) => self.answer(stream, DAWDLE, "200 Taken", || ended(Answer::Taken)),
            Some(Mood::Fails) => self.answer(stream, self.work, "500 Failed", || ended(Answer::Failed)),
            Some(Mood::Throttles) => {
                let status = "429 Throttled\r\nretry-after: 1";
                self.answer(stream, self.work, status, || ended(Answer::Failed))
            }
            Some(Mood::Resets) => {
                set_socket_linger(stream, Some(Duration::ZERO))?;
                ended(Answer::Cut);
                Ok(false)
            }
            Some(Mood::Hangs) => {
                let _ = (&*stream).read(&mut [0; 1]);
                ended(Answer::Cut);
                Ok(false)
            }
            Some(Mood::DripsHeaders) => drip(stream, b"HTTP/1.1 200 OK\r\nx-drip: ", ended),
            Some(Mood::DripsBody) => {
                drip(stream, b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n", ended)
            }
        }
    }

    fn answer(
        &self,
        mut stream: &TcpStream,
        work: Duration,
        status: &str,
        ended: impl FnOnce(),
    ) -> std::io::Result<bool> {
        // Whatever becomes of the sender meanwhile: a receiver goes on with what it got.
        sleep(work);
        ended();
        let body = self.read.to_string();
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes())?;
        Ok(true)
    }
}

fn drip(mut stream: &TcpStream, beginning: &[u8], ended: impl FnOnce(Answer)) -> std::io::Result<bool> {
    let mut write = stream.write_all(beginning);
    while write.is_ok() {
        sleep(DRIP);
        write = stream.write_all(b"x");
    }
    ended(Answer::Cut);
    Ok(false)
}
