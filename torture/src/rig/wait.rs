//! Waiting for a state, never for a time, and always with an end.

use std::thread;
use std::time::{Duration, Instant};

/// Far more than anything here takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(5);

/// Looks until there is something to see, and fails the test when nothing comes.
pub fn wait_until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait_within(PATIENCE, what, look)
}

/// The same with a deadline that is part of the promise.
pub fn wait_within<T>(deadline: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        // Judged by when the look began: one that is late to come back has not seen it late.
        let looked_at = began.elapsed();
        if let Some(seen) = look() {
            return seen;
        }
        assert!(looked_at < deadline, "waited {deadline:?} until {what}");
        thread::sleep(LOOK);
    }
}

/// For much that takes long on a busy machine: looks for as long as something grows, and fails the test once it has stood
/// still.
pub fn wait_while_growing<T>(
    what: &str,
    mut size: impl FnMut() -> usize,
    mut look: impl FnMut() -> Option<T>,
) -> T {
    let (mut last, mut grew_at) = (size(), Instant::now());
    loop {
        let looked_at = Instant::now();
        if let Some(seen) = look() {
            return seen;
        }
        let now = size();
        if now > last {
            (last, grew_at) = (now, looked_at);
        }
        assert!(looked_at - grew_at < PATIENCE, "waited until {what}; for {PATIENCE:?} it stands at {last}");
        thread::sleep(LOOK);
    }
}

/// Lets time pass where the moment itself is what is tested: when a process is killed, how long nothing happens.
pub fn let_pass(duration: Duration) {
    thread::sleep(duration);
}
