//! Which event is next, and when: as soon as a connection is free, or at a fixed rate whatever the gateway does.

use crate::event::{Stamp, unix_now_ns};
use crate::units::nanoseconds;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

#[derive(Debug)]
pub(crate) struct Pace {
    load: u8,
    next: AtomicU64,
    events: u64,
    rate_per_s: Option<u32>,
    started: Instant,
    deadline: Instant,
}

impl Pace {
    pub(crate) fn start(load: u8, events: u64, rate_per_s: Option<u32>, deadline: Duration) -> Pace {
        let started = Instant::now();
        Pace { load, next: AtomicU64::new(0), events, rate_per_s, started, deadline: started + deadline }
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Waits for the next event's time; `None` where all have been given out or time is up.
    ///
    /// At a fixed rate an event that no connection was free for is stamped with the time it was due:
    /// otherwise a gateway that stalls would also stop the clock it is measured by. One that a connection
    /// waited for is stamped when it goes: the timer's lateness, a millisecond or more, is not the gateway's.
    pub(crate) async fn next(&self) -> Option<Stamp> {
        let seq = self.next.fetch_add(1, Ordering::Relaxed);
        if seq >= self.events || self.is_over() {
            return None;
        }
        let Some(rate_per_s) = self.rate_per_s else {
            return Some(Stamp { sent_ns: unix_now_ns(), seq, load: self.load });
        };
        let due = self.started + due_after(seq, rate_per_s);
        let late_ns = nanoseconds(due.elapsed());
        tokio::time::sleep_until(due.min(self.deadline)).await;
        Some(Stamp { sent_ns: unix_now_ns().saturating_sub(late_ns), seq, load: self.load })
    }
}

fn due_after(seq: u64, rate_per_s: u32) -> Duration {
    Duration::from_nanos(seq.saturating_mul(1_000_000_000) / u64::from(rate_per_s.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_due_evenly() {
        for (seq, rate, due_ms) in [(0, 500, 0), (1, 500, 2), (500, 500, 1000), (1, 1, 1000)] {
            assert_eq!(due_after(seq, rate), Duration::from_millis(due_ms), "{seq} at {rate}/s");
        }
    }

    #[test]
    fn an_event_is_stamped_when_due_if_it_is_late_and_when_it_goes_if_waited_for() {
        crate::http::runtime().expect("a runtime").block_on(async {
            let mut pace = Pace::start(0, 2, Some(100), Duration::from_secs(60));
            pace.started -= Duration::from_secs(1);
            let asked_ns = unix_now_ns();
            let late = pace.next().await.expect("the first event");
            assert!(asked_ns - late.sent_ns > 900_000_000, "due a second ago");

            pace.started = Instant::now();
            let asked_ns = unix_now_ns();
            let waited_for = pace.next().await.expect("the second event");
            assert!(waited_for.sent_ns >= asked_ns + 9_000_000, "due 10 ms after the start");
        });
    }

    #[test]
    fn every_event_is_given_out_once() {
        crate::http::runtime().expect("a runtime").block_on(async {
            let pace = Pace::start(0, 2, None, Duration::from_secs(60));
            let given = [pace.next().await, pace.next().await, pace.next().await].map(|s| s.map(|s| s.seq));
            assert_eq!(given, [Some(0), Some(1), None]);
            assert!(Pace::start(0, 2, None, Duration::ZERO).next().await.is_none());
        });
    }
}
