//! Timers for the deadlines of attempts, used again and again.
//!
//! A timer of its own for each attempt is put among those of the runtime and taken out again, under a lock each time. One
//! that is set to a later time stays where it is. It also has cache lines of its own, which would make room for an attempt
//! dearer to get if it had its timer inside.

use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// Those of one runtime that nobody uses: no more than there were attempts in flight at once.
#[derive(Default)]
pub(crate) struct Timers(Mutex<Vec<Pin<Box<Sleep>>>>);

impl Timers {
    /// One that ends after this time.
    pub(crate) fn take(&self, after: Duration) -> Pin<Box<Sleep>> {
        let spare = self.spare().pop();
        match spare {
            Some(mut timer) => {
                timer.as_mut().reset(Instant::now() + after);
                timer
            }
            None => Box::pin(sleep(after)),
        }
    }

    /// Takes one back, whether it has ended or not.
    pub(crate) fn put(&self, timer: Pin<Box<Sleep>>) {
        self.spare().push(timer);
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Pin<Box<Sleep>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_timer_that_is_used_again_ends_when_its_new_time_is_over() {
        let timers = Timers::default();
        // Longer, shorter, and again after it had ended or not.
        for (after, is_waited_for) in [(30, false), (60, true), (5, true), (10, false), (1, true)] {
            let (began, after) = (Instant::now(), Duration::from_secs(after));
            let mut timer = timers.take(after);
            if is_waited_for {
                timer.as_mut().await;
                assert_eq!(began.elapsed(), after);
            }
            timers.put(timer);
            assert_eq!(timers.spare().len(), 1);
        }
    }
}
