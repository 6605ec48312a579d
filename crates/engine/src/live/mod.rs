//! Watching the gateway live: whoever watches is told what happens, and nobody waits for a watcher.
//!
//! Each has a queue of its own with a bound. When it is full, what happens is counted instead, and the watcher is told
//! how much it has missed. While nobody watches, nothing is made to be told.

mod filter;
mod happening;
#[cfg(test)]
mod tests;

pub use filter::{HappeningKind, LiveFilter};
pub use happening::{
    AcceptedEvent, AttemptMade, CircuitMove, Death, DestinationChange, EventMarks, Happening,
};

use postrider_core::id::{AccountId, EventId};
use postrider_core::limits::{STREAM_QUEUE_MAX, STREAMS_MAX, STREAMS_PER_ACCOUNT_MAX};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;

/// What a watcher is told.
#[derive(Clone, Debug)]
pub enum Told {
    /// Something happened.
    Happened(Arc<Happening>),
    /// So much happened that was wanted and found no room in the queue.
    Missed(u64),
}

/// Why nobody more may watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowded {
    /// There are [`STREAMS_MAX`] over all.
    Gateway,
    /// There are [`STREAMS_PER_ACCOUNT_MAX`] of this account.
    Account,
}

/// Where all that happens comes by.
pub(crate) struct Live {
    watchers: Mutex<Vec<Watcher>>,
    /// How many there are, to be looked up without the lock.
    count: AtomicUsize,
    /// The event that was accepted last.
    last_accepted: AtomicU64,
    numbers: AtomicU64,
}

struct Watcher {
    number: u64,
    filter: LiveFilter,
    queue: mpsc::Sender<Told>,
    missed: Arc<AtomicU64>,
}

/// A place to watch from; gone when dropped.
pub struct Watch {
    live: Arc<Live>,
    number: u64,
    queue: mpsc::Receiver<Told>,
    missed: Arc<AtomicU64>,
    /// What was accepted up to this one is not told: it was there before.
    pub since: EventId,
}

impl Live {
    /// Of a gateway whose store holds no greater id than this.
    pub(crate) fn new(id_floor: u64) -> Arc<Self> {
        Arc::new(Live {
            watchers: Mutex::default(),
            count: AtomicUsize::new(0),
            last_accepted: AtomicU64::new(id_floor),
            numbers: AtomicU64::new(0),
        })
    }

    /// A place for one more.
    pub(crate) fn watch(self: &Arc<Self>, filter: LiveFilter) -> Result<Watch, Crowded> {
        let (sender, queue) = mpsc::channel(STREAM_QUEUE_MAX);
        let missed = Arc::new(AtomicU64::new(0));
        let number = self.numbers.fetch_add(1, SeqCst);
        let mut watchers = self.lock();
        let of_account = |account: AccountId| {
            watchers.iter().filter(|watcher| watcher.filter.account == Some(account)).count()
        };
        if watchers.len() >= STREAMS_MAX {
            return Err(Crowded::Gateway);
        }
        if filter.account.is_some_and(|account| of_account(account) >= STREAMS_PER_ACCOUNT_MAX) {
            return Err(Crowded::Account);
        }
        watchers.push(Watcher { number, filter, queue: sender, missed: Arc::clone(&missed) });
        self.count.store(watchers.len(), SeqCst);
        drop(watchers);
        // Read behind the count, as it is written before it: an event is either told to this watcher or counts as
        // accepted before.
        let since = EventId::from_u64(self.last_accepted.load(SeqCst));
        Ok(Watch { live: Arc::clone(self), number, queue, missed, since })
    }

    /// Whether anyone would be told.
    pub(crate) fn is_watched(&self) -> bool {
        self.count.load(SeqCst) > 0
    }

    /// An event of this node was accepted; those behind it have greater ids.
    pub(crate) fn note_accepted(&self, event: EventId) {
        self.last_accepted.store(event.as_u64(), SeqCst);
    }

    /// Tells everyone who wants to know. Never waits.
    pub(crate) fn tell(&self, happening: Happening) {
        let happening = Arc::new(happening);
        for watcher in self.lock().iter().filter(|watcher| watcher.filter.fits(&happening)) {
            watcher.tell(Arc::clone(&happening));
        }
    }

    /// Ends every watch: nothing more will happen.
    pub(crate) fn close(&self) {
        self.lock().clear();
        self.count.store(0, SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Watcher>> {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher {
    fn tell(&self, happening: Arc<Happening>) {
        let missed = self.missed.swap(0, SeqCst);
        if missed > 0 && self.queue.try_send(Told::Missed(missed)).is_err() {
            self.missed.fetch_add(missed + 1, SeqCst);
            return;
        }
        if self.queue.try_send(Told::Happened(happening)).is_err() {
            self.missed.fetch_add(1, SeqCst);
        }
    }
}

impl Watch {
    /// The next thing to be told; `None` when the gateway stops.
    pub async fn next(&mut self) -> Option<Told> {
        if let Ok(told) = self.queue.try_recv() {
            return Some(told);
        }
        // What found no room came behind all that did: it is told as soon as that is read.
        match self.missed.swap(0, SeqCst) {
            0 => self.queue.recv().await,
            missed => Some(Told::Missed(missed)),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut watchers = self.live.lock();
        watchers.retain(|watcher| watcher.number != self.number);
        self.live.count.store(watchers.len(), SeqCst);
    }
}
