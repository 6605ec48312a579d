//! How far something is that takes longer than a moment, and that it is still at work: one line that is written over, for
//! people alone.

use std::io::{IsTerminal as _, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What is done sooner needs no line; and no faster than this can be read.
const STEP: Duration = Duration::from_millis(200);
/// With all that stands around it, a line fits a terminal of 80 columns.
const BAR_CELLS: usize = 20;

/// Shows the line until it is dropped. A thread of its own writes it, so that the seconds go on whatever is waited for.
pub(crate) struct Progress {
    shared: Arc<Mutex<Far>>,
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

#[derive(Default)]
struct Far {
    done: Option<u64>,
    total: Option<u64>,
    is_shown: bool,
}

impl Progress {
    pub(crate) fn new(what: &'static str) -> Self {
        let shared = Arc::default();
        let shown = std::io::stderr().is_terminal().then(|| show(what, Arc::clone(&shared))).flatten();
        Progress { shared, shown }
    }

    /// Whether there is anybody to show it to.
    pub(crate) fn is_watched(&self) -> bool {
        self.shown.is_some()
    }

    /// So much is done, of so much if that is known.
    pub(crate) fn at(&self, done: u64, total: Option<u64>) {
        let mut far = locked(&self.shared);
        (far.done, far.total) = (Some(done), total);
    }

    /// Has something said above the line, which would else be written into it.
    pub(crate) fn above(&self, say: impl FnOnce()) {
        let mut far = locked(&self.shared);
        far.clear();
        say();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((over, thread)) = self.shown.take() {
            drop(over);
            let _ = thread.join();
        }
        locked(&self.shared).clear();
    }
}

impl Far {
    fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            eprint!("\r\x1b[K");
        }
    }

    fn line(&self, what: &str, seconds: u64) -> String {
        match (self.done, self.total.filter(|total| *total > 0)) {
            (Some(done), Some(total)) => {
                // What came in meanwhile may be done too.
                let done = done.min(total);
                let part = |of: u64| u128::from(done) * u128::from(of) / u128::from(total);
                let cells = usize::try_from(part(BAR_CELLS as u64)).unwrap_or(BAR_CELLS);
                let bar = format!("{}{}", "#".repeat(cells), "-".repeat(BAR_CELLS - cells));
                format!("{what} [{bar}] {} %, {done} of {total}, {seconds} s", part(100))
            }
            (Some(done), None) => format!("{what} {done}, {seconds} s"),
            (None, _) => format!("{what}, {seconds} s"),
        }
    }
}

/// Nobody panics while holding it, and if so it is still the best there is.
fn locked(shared: &Mutex<Far>) -> MutexGuard<'_, Far> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `None` when there is no thread to be had: without the line the work is the same.
fn show(what: &'static str, shared: Arc<Mutex<Far>>) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (over, ended) = channel::<()>();
    let began = Instant::now();
    let show = move || {
        while ended.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
            let mut far = locked(&shared);
            eprint!("\r{}\x1b[K", far.line(what, began.elapsed().as_secs()));
            let _ = std::io::stderr().flush();
            far.is_shown = true;
        }
    };
    Some((over, std::thread::Builder::new().name("progress".to_owned()).spawn(show).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_as_much_as_is_known() {
        for (done, total, expected) in [
            (None, None, "walking, 3 s"),
            (Some(7), None, "walking 7, 3 s"),
            (Some(0), Some(0), "walking 0, 3 s"),
            (Some(1), Some(3), "walking [######--------------] 33 %, 1 of 3, 3 s"),
            (Some(9), Some(3), "walking [####################] 100 %, 3 of 3, 3 s"),
            (
                Some(u64::MAX / 2),
                Some(u64::MAX),
                "walking [#########-----------] 49 %, 9223372036854775807 of 18446744073709551615, 3 s",
            ),
        ] {
            assert_eq!(Far { done, total, is_shown: false }.line("walking", 3), expected);
        }
    }
}
