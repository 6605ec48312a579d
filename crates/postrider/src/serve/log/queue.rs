//! Lines on their way to whoever reads the log. Whoever logs never waits for them to be written.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Lines that wait. While they are written as many can gather again.
const WAITING_BYTES_MAX: usize = 1 << 20;

pub(super) struct LogQueue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    dropped: AtomicU64,
}

struct Waiting {
    text: Vec<u8>,
    /// Some were taken out and are being written.
    writing: bool,
}

impl LogQueue {
    pub(super) const fn new() -> Self {
        let waiting = Waiting { text: Vec::new(), writing: false };
        LogQueue { waiting: Mutex::new(waiting), changed: Condvar::new(), dropped: AtomicU64::new(0) }
    }

    /// Never waits: with no room the line is dropped.
    pub(super) fn push(&self, line: &[u8]) {
        let mut waiting = self.waiting();
        if waiting.text.len() + line.len() > WAITING_BYTES_MAX {
            self.dropped.fetch_add(lines_of(line), Relaxed);
            return;
        }
        waiting.text.extend_from_slice(line);
        drop(waiting);
        self.changed.notify_all();
    }

    /// Lines that nobody will read.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    /// Writes what comes, for ever. After lines were dropped, `warn` hears how many once others can be written again.
    pub(super) fn write_to(&self, out: &mut impl Write, warn: impl Fn(u64)) -> ! {
        let (mut warned_of, mut is_cut) = (0, false);
        loop {
            let text = self.take();
            let written = write_whole(out, &text, is_cut);
            is_cut = written < text.len() && (is_cut || written > 0) && !text[..written].ends_with(b"\n");
            let left = lines_of(&text[written..]);
            let dropped = self.dropped.fetch_add(left, Relaxed) + left;
            if left == 0 && dropped > warned_of {
                warn(dropped - warned_of);
                warned_of = dropped;
            }
            self.waiting().writing = false;
            self.changed.notify_all();
        }
    }

    /// Returns when all is written, or after this time.
    pub(super) fn wait_until_written(&self, longest: Duration) {
        let is_left = |waiting: &mut Waiting| waiting.writing || !waiting.text.is_empty();
        drop(self.changed.wait_timeout_while(self.waiting(), longest, is_left));
    }

    /// All that waits, once there is something.
    fn take(&self) -> Vec<u8> {
        let nothing = |waiting: &mut Waiting| waiting.text.is_empty();
        let waiting = self.changed.wait_while(self.waiting(), nothing);
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        waiting.writing = true;
        std::mem::take(&mut waiting.text)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes as much of a text as it can; gives how much. What was cut off before is ended first, or the next line would be
/// spoilt too.
fn write_whole(out: &mut impl Write, text: &[u8], is_cut: bool) -> usize {
    if is_cut && out.write_all(b"\n").is_err() {
        return 0;
    }
    let mut written = 0;
    while written < text.len() {
        match out.write(&text[written..]) {
            Ok(0) => break,
            Ok(count) => written += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    written
}

fn lines_of(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{self, ErrorKind};
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;

    /// Takes as many bytes of each write as it is told to, or fails.
    struct Told {
        takes: Receiver<Option<usize>>,
        taken: Sender<Vec<u8>>,
    }

    impl Write for Told {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            let full = || io::Error::from(ErrorKind::StorageFull);
            let Ok(Some(takes)) = self.takes.recv() else { return Err(full()) };
            let taken = &text[..takes.min(text.len())];
            self.taken.send(taken.to_vec()).map_err(|_| full())?;
            Ok(taken.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Log {
        queue: &'static LogQueue,
        take: Sender<Option<usize>>,
        taken: Receiver<Vec<u8>>,
        warned: Receiver<u64>,
    }

    impl Log {
        fn start() -> Self {
            let queue: &'static LogQueue = Box::leak(Box::new(LogQueue::new()));
            let ((take, takes), (taken, read), (warn, warned)) = (channel(), channel(), channel());
            let warn = move |lines| {
                let _ = warn.send(lines);
            };
            thread::spawn(move || queue.write_to(&mut Told { takes, taken }, warn));
            Log { queue, take, taken: read, warned }
        }

        fn next(&self, takes: Option<usize>) {
            self.take.send(takes).unwrap();
        }

        fn is_written(&self) {
            self.queue.wait_until_written(Duration::from_secs(60));
            assert!(self.queue.waiting().text.is_empty());
        }
    }

    #[test]
    fn a_line_that_is_cut_off_spoils_no_other_and_what_is_lost_is_told() {
        let log = Log::start();
        log.next(Some(2));
        log.next(None);
        log.queue.push(b"one\n");
        log.is_written();
        assert_eq!((log.taken.recv().unwrap(), log.queue.dropped()), (b"on".to_vec(), 1));
        log.next(None);
        log.queue.push(b"two\n");
        log.is_written();
        log.next(Some(1));
        log.next(Some(10));
        log.queue.push(b"three\n");
        log.is_written();
        assert_eq!([log.taken.recv().unwrap(), log.taken.recv().unwrap()].concat(), b"\nthree\n");
        assert_eq!((log.warned.recv().unwrap(), log.queue.dropped()), (2, 2));
        log.next(Some(10));
        log.queue.push(b"four\n");
        log.is_written();
        assert_eq!(log.warned.try_recv().ok(), None);
    }

    #[test]
    fn lines_for_which_there_is_no_room_are_dropped_and_counted() {
        let queue = LogQueue::new();
        let line = [&[b'x'; 1023][..], b"\n"].concat();
        (0..WAITING_BYTES_MAX / line.len() + 3).for_each(|_| queue.push(&line));
        assert_eq!((queue.dropped(), queue.waiting().text.len()), (3, WAITING_BYTES_MAX));
        queue.wait_until_written(Duration::from_millis(1));
    }
}
