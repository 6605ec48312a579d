//! Signs of life of the threads and loops that the gateway cannot live without. Whoever asks whether the process is alive is
//! answered by these, and not by the thread alone that happens to serve the question.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a loop that waits for nothing in particular gives a sign.
pub const BEAT_EVERY: Duration = Duration::from_secs(1);
/// Without a sign for so long, a thread hangs. No statement, sync or hand-over of a machine that works takes so long.
pub const STALLED_AFTER: Duration = Duration::from_secs(120);

/// At rest: it waits for work, however long that takes.
const RESTS: u64 = u64::MAX;

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
static ALL: Mutex<Vec<Arc<Pulse>>> = Mutex::new(Vec::new());

struct Pulse {
    name: String,
    last_ms: AtomicU64,
}

/// One thread or loop, for as long as it lives.
pub struct Heartbeat(Arc<Pulse>);

impl Heartbeat {
    /// Begins with a sign.
    pub fn start(name: impl Into<String>) -> Self {
        let pulse = Arc::new(Pulse { name: name.into(), last_ms: AtomicU64::new(now_ms()) });
        all().push(Arc::clone(&pulse));
        Heartbeat(pulse)
    }

    /// It is alive, and works from now on.
    pub fn beat(&self) {
        self.0.last_ms.store(now_ms(), Relaxed);
    }

    /// It waits for work from now on, and gives no sign until there is some.
    pub fn rest(&self) {
        self.0.last_ms.store(RESTS, Relaxed);
    }
}

impl Drop for Heartbeat {
    /// Whoever has ended in order is not missed.
    fn drop(&mut self) {
        all().retain(|pulse| !Arc::ptr_eq(pulse, &self.0));
    }
}

/// What has given no sign for [`STALLED_AFTER`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stalled {
    /// Of the thread or loop.
    pub name: String,
    /// Since its last sign.
    pub silent_for: Duration,
}

/// The one that has been silent for longest, if one hangs.
pub fn stalled() -> Option<Stalled> {
    let now = now_ms();
    let silent = |pulse: &Arc<Pulse>| {
        // One that rests is silent for no time.
        let silent_for = Duration::from_millis(now.saturating_sub(pulse.last_ms.load(Relaxed)));
        (silent_for > STALLED_AFTER).then(|| Stalled { name: pulse.name.clone(), silent_for })
    };
    all().iter().filter_map(silent).max_by_key(|stalled| stalled.silent_for)
}

fn now_ms() -> u64 {
    u64::try_from(BEGAN.elapsed().as_millis()).unwrap_or(RESTS - 1)
}

fn all() -> MutexGuard<'static, Vec<Arc<Pulse>>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_stalled(name: &str) -> bool {
        stalled().is_some_and(|stalled| stalled.name == name)
    }

    #[test]
    fn who_gives_no_sign_hangs_unless_it_rests_or_has_ended() {
        let silent = Heartbeat::start("silent");
        assert!(!is_stalled("silent"));
        let began = *BEGAN;
        assert!(began.elapsed() < STALLED_AFTER, "the rest is about a process that is younger");
        silent.rest();
        assert!(!is_stalled("silent"));
        silent.beat();
        assert!(!is_stalled("silent"));
        drop(silent);
        assert!(all().iter().all(|pulse| pulse.name != "silent"));
    }
}
