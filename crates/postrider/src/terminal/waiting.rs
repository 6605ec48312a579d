//! That something is still at work of which nobody can say how far it is: how long it has taken, for people alone.

use std::io::{IsTerminal as _, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What is done sooner needs no line.
const STEP: Duration = Duration::from_secs(1);

/// Shows a line that counts seconds, until it is dropped.
pub(crate) struct Waiting(Option<(Sender<()>, JoinHandle<()>)>);

impl Waiting {
    pub(crate) fn new(what: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Waiting(None);
        }
        let (over, ended) = channel::<()>();
        let began = Instant::now();
        let show = move || {
            let mut is_shown = false;
            while ended.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                eprint!("\r{what}, {} s\x1b[K", began.elapsed().as_secs());
                let _ = std::io::stderr().flush();
                is_shown = true;
            }
            if is_shown {
                eprint!("\r\x1b[K");
            }
        };
        let shown = std::thread::Builder::new().name("waiting".to_owned()).spawn(show);
        // Without the line the work is the same.
        Waiting(shown.ok().map(|thread| (over, thread)))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((over, thread)) = self.0.take() {
            drop(over);
            let _ = thread.join();
        }
    }
}
