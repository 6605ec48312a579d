//! Events that were refused for want of room, by cause and account.

use super::Counter;
use crate::admission::Limit;
use crate::ingest::IngestError;
use postrider_core::id::AccountId;
use postrider_core::map::IdMap;
use std::sync::{PoisonError, RwLock};

/// Accounts that are told apart: the first so many that were refused. A hostile crowd of them costs no more memory.
const ACCOUNTS_MAX: usize = 100;

/// Why an event was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShedCause {
    /// A limit of the backlog.
    Limit(Limit),
    /// Too many events waited to be written.
    Writing,
    /// There was no room for another large body.
    Bodies,
    /// Too many events waited to be checked by their schemas.
    SchemaChecks,
    /// The disk was full up to its reserve.
    Disk,
    /// The store could not write.
    Store,
}

impl ShedCause {
    /// All of them.
    pub const ALL: [ShedCause; 12] = [
        ShedCause::Limit(Limit::Rows),
        ShedCause::Limit(Limit::Bytes),
        ShedCause::Limit(Limit::Age),
        ShedCause::Limit(Limit::Commit),
        ShedCause::Limit(Limit::AccountRows),
        ShedCause::Limit(Limit::AccountBytes),
        ShedCause::Limit(Limit::AccountAge),
        ShedCause::Writing,
        ShedCause::Bodies,
        ShedCause::SchemaChecks,
        ShedCause::Disk,
        ShedCause::Store,
    ];

    /// Of a refusal; `None` when it was not for want of room.
    fn of(error: &IngestError) -> Option<Self> {
        match error {
            IngestError::OverShare(limit) | IngestError::Shed(limit) => Some(ShedCause::Limit(*limit)),
            IngestError::Overloaded => Some(ShedCause::Writing),
            IngestError::Crowded => Some(ShedCause::Bodies),
            IngestError::CheckQueueFull => Some(ShedCause::SchemaChecks),
            IngestError::DiskFull => Some(ShedCause::Disk),
            IngestError::Unavailable => Some(ShedCause::Store),
            IngestError::Stopping
            | IngestError::Conflict(_)
            | IngestError::SchemaMismatch(_)
            | IngestError::TooWide => None,
        }
    }

    fn index(self) -> usize {
        ShedCause::ALL.iter().position(|known| *known == self).unwrap_or_default()
    }

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            ShedCause::Limit(limit) => limit.setting(),
            ShedCause::Writing => "writing",
            ShedCause::Bodies => "bodies",
            ShedCause::SchemaChecks => "schema_checks",
            ShedCause::Disk => "disk",
            ShedCause::Store => "store",
        }
    }
}

type Causes = [Counter; ShedCause::ALL.len()];

/// How many were refused.
#[derive(Debug, Default)]
pub struct Shed {
    accounts: RwLock<IdMap<AccountId, Causes>>,
    /// Of accounts that are not told apart.
    others: Causes,
}

impl Shed {
    /// Counts a refusal, if it was for want of room.
    pub fn note(&self, account: AccountId, error: &IngestError) {
        let Some(cause) = ShedCause::of(error) else { return };
        {
            let accounts = self.accounts.read().unwrap_or_else(PoisonError::into_inner);
            let full = accounts.len() >= ACCOUNTS_MAX;
            if let Some(counted) = accounts.get(&account).or(full.then_some(&self.others)) {
                return counted[cause.index()].add(1);
            }
        }
        let mut accounts = self.accounts.write().unwrap_or_else(PoisonError::into_inner);
        accounts.entry(account).or_default()[cause.index()].add(1);
    }

    /// All that were refused.
    pub(crate) fn total(&self) -> u64 {
        self.by_cause().iter().map(|(_, count)| count).sum()
    }

    /// What was counted by cause, of all accounts; every cause is there, also while nothing was refused for it.
    pub fn by_cause(&self) -> [(ShedCause, u64); ShedCause::ALL.len()] {
        let accounts = self.accounts.read().unwrap_or_else(PoisonError::into_inner);
        let all = || accounts.values().chain(std::iter::once(&self.others));
        ShedCause::ALL.map(|cause| (cause, all().map(|causes| causes[cause.index()].get()).sum()))
    }

    /// What was counted, by account (none for all those that are not told apart) and cause; nothing is left out.
    pub fn counts(&self) -> Vec<(Option<AccountId>, ShedCause, u64)> {
        let accounts = self.accounts.read().unwrap_or_else(PoisonError::into_inner);
        let told_apart = accounts.iter().map(|(account, causes)| (Some(*account), causes));
        let all = told_apart.chain(std::iter::once((None, &self.others)));
        let counted = |(account, causes): (Option<AccountId>, &Causes)| {
            let of_cause = |cause: ShedCause| (account, cause, causes[cause.index()].get());
            ShedCause::ALL.map(of_cause)
        };
        all.flat_map(counted).filter(|(_, _, count)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_of_accounts_is_counted_as_one_beyond_the_first() {
        let shed = Shed::default();
        for account in 1..=ACCOUNTS_MAX as u64 + 20 {
            shed.note(AccountId::from_u64(account), &IngestError::DiskFull);
            shed.note(AccountId::from_u64(account), &IngestError::Shed(Limit::Age));
        }
        shed.note(AccountId::from_u64(1), &IngestError::Stopping);
        let by_cause = shed.by_cause();
        assert_eq!(by_cause.iter().filter(|(_, count)| *count == 120).count(), 2, "{by_cause:?}");
        let uncounted = by_cause.iter().filter(|(_, count)| *count == 0).count();
        assert_eq!((uncounted, shed.total()), (ShedCause::ALL.len() - 2, 240));
        let counts = shed.counts();
        assert_eq!(counts.len(), 2 * (ACCOUNTS_MAX + 1));
        let sum = |wanted| -> u64 {
            counts.iter().filter(|(account, ..)| account.is_none() == wanted).map(|(_, _, count)| count).sum()
        };
        assert_eq!((sum(false), sum(true)), (200, 40));
    }
}
