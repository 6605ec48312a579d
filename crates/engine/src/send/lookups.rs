//! Shares the lookups of names among the accounts.
//!
//! The system's resolver cannot be cancelled: a lookup in a zone that does not answer keeps a thread and a socket for up to
//! minutes. So their number is bounded, and an account may start another one only while it has fewer than an eighth of
//! those that are still free. One account has at most 56 of 512. Any number of accounts with such names leaves some free:
//! with 32 of them an account has 12 and 128 stay free for the others.

use postrider_core::id::AccountId;
use postrider_core::map::IdMap;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Lookups at once: each is a thread and a socket.
pub(super) const LOOKUPS_MAX: usize = 512;
/// An account has fewer lookups than the free ones divided by this.
const SHARE: usize = 8;

/// Which lookup of an account is the next one to start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// A name that had an answer not long ago goes before names that may never get one.
    Known,
    Unknown,
}

#[derive(Clone)]
pub(super) struct Lookups {
    shares: Arc<Mutex<Shares>>,
}

struct Shares {
    free: usize,
    accounts: IdMap<AccountId, Share>,
}

#[derive(Default)]
struct Share {
    running: usize,
    queued: VecDeque<oneshot::Sender<Permit>>,
}

/// May look up one name. Dropped when the resolver has returned, however late, and not when nobody waits any more.
pub(super) struct Permit {
    lookups: Lookups,
    account: AccountId,
}

impl Lookups {
    pub(super) fn new(max: usize) -> Self {
        assert!(max > 0, "names have to be looked up");
        Lookups { shares: Arc::new(Mutex::new(Shares { free: max, accounts: IdMap::default() })) }
    }

    /// Waits for the account's turn. Whoever drops this leaves the queue.
    pub(super) async fn permit(&self, account: AccountId, turn: Turn) -> Permit {
        let queued = {
            let mut shares = self.locked();
            if shares.may_start(account) {
                shares.start(account);
                return Permit { lookups: self.clone(), account };
            }
            shares.queue(account, turn)
        };
        queued.await.expect("a queue drops only those that wait no more")
    }

    fn release(&self, account: AccountId) {
        self.locked().end(account);
        // Granted outside of the lock: a permit that nobody takes comes back here at once.
        while let Some((account, queued)) = self.next() {
            let _ = queued.send(Permit { lookups: self.clone(), account });
        }
    }

    fn next(&self) -> Option<(AccountId, oneshot::Sender<Permit>)> {
        self.locked().next()
    }

    fn locked(&self) -> MutexGuard<'_, Shares> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.lookups.release(self.account);
    }
}

impl Shares {
    fn may_start(&self, account: AccountId) -> bool {
        let running = self.accounts.get(&account).map_or(0, |share| share.running);
        running * SHARE < self.free
    }

    fn start(&mut self, account: AccountId) {
        self.free -= 1;
        self.accounts.entry(account).or_default().running += 1;
    }

    fn end(&mut self, account: AccountId) {
        self.free += 1;
        let share = self.accounts.get_mut(&account).expect("an account with a permit has a share");
        share.running -= 1;
        if share.running == 0 && share.queued.is_empty() {
            self.accounts.remove(&account);
        }
    }

    fn queue(&mut self, account: AccountId, turn: Turn) -> oneshot::Receiver<Permit> {
        let queued = &mut self.accounts.entry(account).or_default().queued;
        // Those that wait no more are taken out whenever the queue would grow, so it is bounded by the attempts in flight.
        if queued.len() == queued.capacity() {
            queued.retain(|waiting| !waiting.is_closed());
        }
        let (permit, granted) = oneshot::channel();
        match turn {
            Turn::Known => queued.push_front(permit),
            Turn::Unknown => queued.push_back(permit),
        }
        granted
    }

    /// Starts the next lookup: of the account with the fewest running, as long as even that one may.
    fn next(&mut self) -> Option<(AccountId, oneshot::Sender<Permit>)> {
        loop {
            let waiting = self.accounts.iter_mut().filter(|(_, share)| !share.queued.is_empty());
            let (account, share) = waiting.min_by_key(|(id, share)| (share.running, **id))?;
            let account = *account;
            if share.running * SHARE >= self.free {
                return None;
            }
            let queued = share.queued.pop_front()?;
            if !queued.is_closed() {
                self.start(account);
                return Some((account, queued));
            }
            if share.running == 0 && share.queued.is_empty() {
                self.accounts.remove(&account);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    /// As many permits as an account gets at once; the rest of what it asks for is dropped.
    fn at_once(lookups: &Lookups, account: u64) -> Vec<Permit> {
        let account = AccountId::from_u64(account);
        let permit = || lookups.permit(account, Turn::Unknown).now_or_never();
        std::iter::from_fn(permit).collect()
    }

    fn account(lookups: &Lookups, id: u64) -> usize {
        lookups.locked().accounts.get(&AccountId::from_u64(id)).map_or(0, |share| share.running)
    }

    #[test]
    fn an_account_leaves_most_lookups_to_the_others() {
        let lookups = Lookups::new(LOOKUPS_MAX);
        let one = at_once(&lookups, 1);
        assert_eq!(one.len(), 57);
        let many: Vec<Vec<Permit>> = (2..=32).map(|id| at_once(&lookups, id)).collect();
        assert_eq!(many.last().unwrap().len(), 2);
        assert!(!at_once(&lookups, 33).is_empty(), "the next account still looks names up");
        drop((one, many));
        let shares = lookups.locked();
        assert_eq!((shares.free, shares.accounts.len()), (LOOKUPS_MAX, 0), "all of it comes back");
    }

    #[tokio::test]
    async fn what_comes_free_goes_to_the_account_with_the_fewest() {
        let lookups = Lookups::new(16);
        let mut one = at_once(&lookups, 1);
        let queued = [1, 1, 2].map(|id| {
            let lookups = lookups.clone();
            tokio::spawn(async move { lookups.permit(AccountId::from_u64(id), Turn::Unknown).await })
        });
        tokio::task::yield_now().await;
        assert_eq!((account(&lookups, 1), account(&lookups, 2)), (2, 1), "the second did not wait");
        one.pop();
        let [first, second, third] = queued;
        let first = first.await.unwrap();
        assert!(!second.is_finished());
        drop((first, one));
        second.await.unwrap();
        third.await.unwrap();
        assert_eq!(lookups.locked().free, 16);
    }

    #[tokio::test]
    async fn a_name_that_was_known_goes_first_and_who_gave_up_is_passed_over() {
        let lookups = Lookups::new(1);
        let account = AccountId::from_u64(1);
        let running = at_once(&lookups, 1);
        let order = Arc::new(Mutex::new(Vec::new()));
        let wait = |name: &'static str, turn| {
            let (lookups, order) = (lookups.clone(), Arc::clone(&order));
            tokio::spawn(async move {
                let _permit = lookups.permit(account, turn).await;
                order.lock().unwrap().push(name);
            })
        };
        let gave_up = wait("gave up", Turn::Unknown);
        let tasks = [wait("unknown", Turn::Unknown), wait("known", Turn::Known)];
        tokio::task::yield_now().await;
        gave_up.abort();
        assert!(gave_up.await.unwrap_err().is_cancelled());
        drop(running);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), ["known", "unknown"]);
        assert_eq!(lookups.locked().accounts.len(), 0);
    }

    #[tokio::test]
    async fn a_queue_keeps_nobody_who_has_given_up() {
        let lookups = Lookups::new(1);
        let _running = at_once(&lookups, 1);
        for _ in 0..10_000 {
            assert!(lookups.permit(AccountId::from_u64(1), Turn::Unknown).now_or_never().is_none());
        }
        assert!(lookups.locked().accounts[&AccountId::from_u64(1)].queued.len() < 16);
    }
}
