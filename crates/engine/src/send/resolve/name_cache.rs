//! What is remembered of names. Each account has a share of it, so that none flushes what the others need.

use super::{Answer, is_short};
use postrider_core::id::AccountId;
use postrider_core::map::IdMap;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long an answer is believed. Short against the usual time to live, so that a move is noticed.
pub(super) const KNOWN_FOR: Duration = Duration::from_secs(30);
/// The same for a name that was not found.
const UNKNOWN_FOR: Duration = Duration::from_secs(2);
/// How long an answer can be used where there is no newer one. Name servers that are away for some minutes are then not
/// noticed by receivers that are well.
const OLDER_FOR: Duration = Duration::from_secs(10 * 60);
/// Names remembered at once. One takes up to half a kilobyte.
pub(super) const NAMES_MAX: usize = 8192;
/// The same of one account; past it, its oldest name makes room.
pub(super) const ACCOUNT_NAMES_MAX: usize = NAMES_MAX / 8;

#[derive(Default)]
pub(super) struct NameCache {
    names: HashMap<String, Entry>,
    /// Names by the account that had them looked up last, the oldest first.
    accounts: IdMap<AccountId, BTreeMap<u64, String>>,
    last_number: u64,
}

struct Entry {
    answer: Answer,
    until: Instant,
    account: AccountId,
    number: u64,
}

/// What is remembered of a name.
pub(super) enum Remembered {
    Current(Answer),
    Older(Arc<[IpAddr]>),
    Nothing,
}

impl NameCache {
    pub(super) fn find(&self, host: &str) -> Remembered {
        let (now, found) = (Instant::now(), self.names.get(host));
        match found.map(|entry| (&entry.answer, entry.until)) {
            Some((answer, until)) if now < until => Remembered::Current(answer.clone()),
            Some((Ok(addresses), until)) if now < until + OLDER_FOR => {
                Remembered::Older(Arc::clone(addresses))
            }
            _ => Remembered::Nothing,
        }
    }

    /// That nobody could be asked says nothing of the name.
    pub(super) fn put(&mut self, account: AccountId, host: &str, answer: Answer) {
        if is_short(&answer) {
            return;
        }
        self.forget(host);
        self.make_room(account);
        self.last_number += 1;
        let number = self.last_number;
        let until = Instant::now() + if answer.is_ok() { KNOWN_FOR } else { UNKNOWN_FOR };
        self.accounts.entry(account).or_default().insert(number, host.to_owned());
        self.names.insert(host.to_owned(), Entry { answer, until, account, number });
    }

    /// Of a name that got no answer in time, addresses of before can still be used.
    pub(super) fn put_late(&mut self, account: AccountId, host: &str, answer: Answer) {
        if answer.is_ok() || !matches!(self.find(host), Remembered::Older(_)) {
            self.put(account, host, answer);
        }
    }

    pub(super) fn forget(&mut self, host: &str) {
        let Some(Entry { account, number, .. }) = self.names.remove(host) else { return };
        let names = self.accounts.get_mut(&account).expect("a name has its account");
        names.remove(&number);
        if names.is_empty() {
            self.accounts.remove(&account);
        }
    }

    /// Where all shares together are too many, the account with the most makes room.
    fn make_room(&mut self, account: AccountId) {
        let own = self.accounts.get(&account).filter(|names| names.len() >= ACCOUNT_NAMES_MAX);
        let from = match own {
            None if self.names.len() < NAMES_MAX => return,
            None => self.accounts.values().max_by_key(|names| names.len()),
            own => own,
        };
        let oldest = from.and_then(|names| names.values().next().cloned());
        self.forget(&oldest.expect("what is full has names"));
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let by_account: usize = self.accounts.values().map(BTreeMap::len).sum();
        assert_eq!(self.names.len(), by_account, "each name is somebody's");
        by_account
    }
}
