//! Ctrl-C and SIGTERM as something to look at between two steps, so that no step is left half done.

use anyhow::Context as _;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// By a signal, as shells have it: 128 and the number of SIGINT.
const ENDED_BY_SIGNAL: i32 = 130;

#[derive(Default)]
struct Shared {
    is_set: Mutex<bool>,
    changed: Condvar,
}

#[derive(Clone, Default)]
pub(crate) struct Interruption(Arc<Shared>);

impl Interruption {
    /// From now on the first signal is only noted; the next ends the process, whatever it is doing.
    pub(crate) fn watch() -> anyhow::Result<Interruption> {
        let interruption = Interruption::default();
        let own = interruption.clone();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let waiting = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async {
                let kinds = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
                let (Ok(mut interrupt), Ok(mut terminate)) = kinds else { return };
                // Whoever watches is told of every signal from here on.
                let _ = ready.send(());
                loop {
                    tokio::select! {
                        _ = interrupt.recv() => {}
                        _ = terminate.recv() => {}
                    }
                    if own.is_set() {
                        std::process::exit(ENDED_BY_SIGNAL);
                    }
                    own.set();
                }
            });
        });
        waiting.context("wait for signals")?;
        is_ready.recv().context("listen for signals")?;
        Ok(interruption)
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.0.is_set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits so long, or until there is a signal.
    pub(crate) fn sleep(&self, time: Duration) {
        let is_set = self.0.is_set.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.changed.wait_timeout_while(is_set, time, |is_set| !*is_set);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn set(&self) {
        *self.0.is_set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_ends_a_wait_and_stays() {
        let interruption = Interruption::default();
        interruption.sleep(Duration::from_millis(1));
        assert!(!interruption.is_set());
        let waits = interruption.clone();
        let waiting = std::thread::spawn(move || waits.sleep(Duration::from_secs(3600)));
        interruption.set();
        waiting.join().unwrap();
        interruption.sleep(Duration::from_secs(3600));
        assert!(interruption.is_set());
    }
}
