//! Whether there is room for another event: looked up at ingest, kept up to date by the dispatcher.
//!
//! A refusal costs a few loads from memory, so that it is given at once however much is refused.
//!
//! Limits are of all nodes together: what the others told to be owed by them, about every second, counts beside what is owed
//! by this one. So a node refuses what it would only pass on, too.

use crate::catalog::Catalog;
use postrider_core::id::AccountId;
use postrider_core::map::IdMap;
use postrider_core::scheduler::{Backlog, Scheduler};
use postrider_core::time::Timestamp;
use postrider_store::{Account, Elsewhere};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

/// Above which no further event is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BacklogLimits {
    /// Deliveries owed.
    pub rows: u64,
    /// Body bytes of pending deliveries.
    pub bytes: u64,
    /// Waiting of the longest for nothing but a slot.
    pub age: Duration,
    /// A commit that takes longer.
    pub commit: Duration,
}

impl Default for BacklogLimits {
    fn default() -> Self {
        BacklogLimits {
            rows: 10_000_000,
            bytes: 64 << 30,
            age: Duration::from_secs(6 * 3600),
            commit: Duration::from_secs(2),
        }
    }
}

/// Which limit an event was refused by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Deliveries owed.
    Rows,
    /// Body bytes of pending deliveries.
    Bytes,
    /// How long deliveries wait for a slot.
    Age,
    /// How long commits take.
    Commit,
    /// Deliveries that its account may be owed.
    AccountRows,
    /// Body bytes that its account may be owed.
    AccountBytes,
    /// How long deliveries of its account may wait for a slot.
    AccountAge,
}

impl Limit {
    /// The setting that an operator would raise.
    pub const fn setting(self) -> &'static str {
        match self {
            Limit::Rows => "backlog_max_rows",
            Limit::Bytes => "backlog_max_bytes",
            Limit::Age => "backlog_max_age",
            Limit::Commit => "commit_max_ms",
            Limit::AccountRows => "max_pending",
            Limit::AccountBytes => "max_pending_bytes",
            Limit::AccountAge => "max_pending_age_seconds",
        }
    }
}

/// Past this share of a limit of all, accounts above their own share are refused first.
const PRESSURE_PERCENT: u64 = 80;
/// How often what needs a walk over accounts and destinations is looked at.
const LOOK: Duration = Duration::from_millis(100);

pub(crate) struct Admission {
    limits: CurrentLimits,
    /// Owed by this node.
    own_rows: AtomicU64,
    /// Owed by all nodes, and so on.
    rows: AtomicU64,
    bytes: AtomicU64,
    longest_wait_ms: AtomicU64,
    /// When the commit that is running began; zero when none is.
    commit_since_ms: AtomicU64,
    looked_at_ms: AtomicU64,
    /// Accounts that are over a limit of theirs.
    over: RwLock<IdMap<AccountId, Limit>>,
    /// Whether there is one, which is seldom: else no event needs the lock.
    any_over: AtomicBool,
    /// What is owed by other nodes, as they told last.
    elsewhere: RwLock<Elsewhere>,
}

/// The limits of now. Every event reads them, so they are no lock.
struct CurrentLimits {
    rows: AtomicU64,
    bytes: AtomicU64,
    age_ms: AtomicU64,
    commit_ms: AtomicU64,
}

impl CurrentLimits {
    fn new(limits: BacklogLimits) -> Self {
        let zero = || AtomicU64::new(0);
        let current = CurrentLimits { rows: zero(), bytes: zero(), age_ms: zero(), commit_ms: zero() };
        current.set(limits);
        current
    }

    fn set(&self, BacklogLimits { rows, bytes, age, commit }: BacklogLimits) {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.rows.store(rows, Relaxed);
        self.bytes.store(bytes, Relaxed);
        self.age_ms.store(ms(age), Relaxed);
        self.commit_ms.store(ms(commit), Relaxed);
    }

    fn get(&self) -> BacklogLimits {
        BacklogLimits {
            rows: self.rows.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            age: Duration::from_millis(self.age_ms.load(Relaxed)),
            commit: Duration::from_millis(self.commit_ms.load(Relaxed)),
        }
    }
}

/// Why an event is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Its account has more than its share.
    Account(Limit),
    /// There is no room for anyone.
    All(Limit),
}

impl Admission {
    pub(crate) fn new(limits: BacklogLimits) -> Self {
        Admission {
            limits: CurrentLimits::new(limits),
            own_rows: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            longest_wait_ms: AtomicU64::new(0),
            commit_since_ms: AtomicU64::new(0),
            looked_at_ms: AtomicU64::new(0),
            over: RwLock::default(),
            any_over: AtomicBool::new(false),
            elsewhere: RwLock::default(),
        }
    }

    /// Whether an event of this account may come in now.
    pub(crate) fn admit(&self, account: AccountId, now: Timestamp) -> Result<(), Refusal> {
        if self.any_over.load(Relaxed)
            && let Some(limit) = self.over.read().unwrap_or_else(PoisonError::into_inner).get(&account)
        {
            return Err(Refusal::Account(*limit));
        }
        self.admit_anyone(now).map_err(Refusal::All)
    }

    /// Whether there is room for an event of any account.
    pub(crate) fn admit_anyone(&self, now: Timestamp) -> Result<(), Limit> {
        let commit_since = self.commit_since_ms.load(Relaxed);
        let committing_ms = if commit_since == 0 { 0 } else { now.unix_ms().saturating_sub(commit_since) };
        let BacklogLimits { rows, bytes, age, commit } = self.limits.get();
        if self.rows.load(Relaxed) >= rows {
            Err(Limit::Rows)
        } else if self.bytes.load(Relaxed) >= bytes {
            Err(Limit::Bytes)
        } else if self.longest_wait() >= age {
            Err(Limit::Age)
        } else if Duration::from_millis(committing_ms) >= commit {
            Err(Limit::Commit)
        } else {
            Ok(())
        }
    }

    /// Goes on with other limits; looked at in the same turn.
    pub(crate) fn limit(&self, limits: BacklogLimits) {
        self.limits.set(limits);
        self.looked_at_ms.store(0, Relaxed);
    }

    /// Deliveries owed by this node.
    pub(crate) fn pending(&self) -> u64 {
        self.own_rows.load(Relaxed)
    }

    /// Nodes that there are, this one included.
    pub(crate) fn nodes(&self) -> u32 {
        self.elsewhere().nodes + 1
    }

    /// Whether this node is the one to tell of limits that all of them see.
    pub(crate) fn speaks(&self) -> bool {
        self.elsewhere().before == 0
    }

    /// Who is over which limit of the backlog; `None` stands for all accounts together.
    pub(crate) fn refusing(&self) -> HashMap<Option<AccountId>, Limit> {
        let BacklogLimits { rows, bytes, age, .. } = self.limits.get();
        let reached = [
            (self.rows.load(Relaxed) >= rows, Limit::Rows),
            (self.bytes.load(Relaxed) >= bytes, Limit::Bytes),
            (self.longest_wait() >= age, Limit::Age),
        ];
        let of_all = reached.into_iter().find(|(reached, _)| *reached).map(|(_, limit)| (None, limit));
        let over = self.over.read().unwrap_or_else(PoisonError::into_inner);
        over.iter().map(|(account, limit)| (Some(*account), *limit)).chain(of_all).collect()
    }

    pub(crate) fn commit_begins(&self, now: Timestamp) {
        self.commit_since_ms.store(now.unix_ms(), Relaxed);
    }

    pub(crate) fn commit_ended(&self) {
        self.commit_since_ms.store(0, Relaxed);
    }

    /// Takes in what other nodes told; looked at in the same turn.
    pub(crate) fn hear(&self, elsewhere: Elsewhere) {
        *self.elsewhere.write().unwrap_or_else(PoisonError::into_inner) = elsewhere;
        self.looked_at_ms.store(0, Relaxed);
    }

    fn elsewhere(&self) -> RwLockReadGuard<'_, Elsewhere> {
        self.elsewhere.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in how things stand; called by the dispatcher at every turn.
    pub(crate) fn observe(&self, scheduler: &Scheduler, catalog: &RwLock<Catalog>, now: Timestamp) {
        let mut owed = scheduler.pending();
        self.own_rows.store(owed.rows, Relaxed);
        owed += self.elsewhere().pending;
        self.rows.store(owed.rows, Relaxed);
        self.bytes.store(owed.bytes, Relaxed);
        let looked_at = Timestamp::from_unix_ms(self.looked_at_ms.load(Relaxed));
        if now.since(looked_at) < LOOK {
            return;
        }
        self.looked_at_ms.store(now.unix_ms(), Relaxed);
        let mut backlogs = scheduler.backlogs(now);
        self.elsewhere().accounts.iter().for_each(|(id, waits)| *backlogs.entry(*id).or_default() += *waits);
        let longest_wait = backlogs.values().map(|waits| waits.uncapped_wait).max().unwrap_or_default();
        let longest_wait = u64::try_from(longest_wait.as_millis()).unwrap_or(u64::MAX);
        self.longest_wait_ms.store(longest_wait, Relaxed);
        let over = self.over_limits(&backlogs, &catalog.read().unwrap_or_else(PoisonError::into_inner));
        if self.any_over.load(Relaxed) || !over.is_empty() {
            self.any_over.store(!over.is_empty(), Relaxed);
            *self.over.write().unwrap_or_else(PoisonError::into_inner) = over;
        }
    }

    /// Looks at the accounts of events that were just taken in: a limit of their own counts from the next event on.
    pub(crate) fn took(
        &self,
        accounts: impl Iterator<Item = AccountId>,
        scheduler: &Scheduler,
        catalog: &RwLock<Catalog>,
    ) {
        let (catalog, elsewhere) = (catalog.read().unwrap_or_else(PoisonError::into_inner), self.elsewhere());
        let mut last = None;
        for id in accounts {
            // Most of a batch is of one account.
            if last.replace(id) == Some(id) {
                continue;
            }
            let mut waits = elsewhere.accounts.get(&id).copied().unwrap_or_default();
            waits.pending += scheduler.pending_of(id);
            let found = catalog.account(id).and_then(|account| own_limit(account, waits));
            if let Some(limit) = found {
                self.over.write().unwrap_or_else(PoisonError::into_inner).insert(id, limit);
                self.any_over.store(true, Relaxed);
            }
        }
    }

    /// How long the longest of all nodes has waited for nothing but a slot, nor for a cap of its account.
    pub(crate) fn longest_wait(&self) -> Duration {
        Duration::from_millis(self.longest_wait_ms.load(Relaxed))
    }

    /// While something waits for a slot, or somebody is refused for what only a look can tell, it is looked again by
    /// then, also if nothing happens: what it was at the last look would be said of it for ever.
    pub(crate) fn look_again_at(&self) -> Option<Timestamp> {
        let waits = self.longest_wait_ms.load(Relaxed) > 0;
        let refusing = waits || self.any_over.load(Relaxed);
        refusing.then(|| Timestamp::from_unix_ms(self.looked_at_ms.load(Relaxed)).after(LOOK))
    }

    fn over_limits(
        &self,
        backlogs: &IdMap<AccountId, Backlog>,
        catalog: &Catalog,
    ) -> IdMap<AccountId, Limit> {
        let (rows, bytes) = (self.rows.load(Relaxed), self.bytes.load(Relaxed));
        let limits = self.limits.get();
        let under_pressure = is_past_share(rows, limits.rows, PRESSURE_PERCENT, 100)
            || is_past_share(bytes, limits.bytes, PRESSURE_PERCENT, 100);
        let weights = if under_pressure { catalog.total_weight() } else { 0 };
        let mut over = IdMap::default();
        for (id, waits) in backlogs {
            let Some(account) = catalog.account(*id) else { continue };
            let weight = u64::from(account.weight.get());
            // One that is alone has no share to keep to: the limit of all is its limit.
            let crowded = under_pressure && weights > weight;
            let unfair = |found, limit| crowded && is_past_share(found, limit, weight, weights);
            // What waits for a cap of its account is no reason to refuse the others.
            let age = limits.age;
            let share = if unfair(waits.pending.rows, limits.rows) {
                Some(Limit::Rows)
            } else if unfair(waits.pending.bytes, limits.bytes) {
                Some(Limit::Bytes)
            } else {
                (waits.longest_wait >= age && waits.uncapped_wait < age).then_some(Limit::Age)
            };
            if let Some(limit) = own_limit(account, *waits).or(share) {
                over.insert(*id, limit);
            }
        }
        over
    }
}

/// The limit of its own that an account has reached.
fn own_limit(account: &Account, Backlog { pending, longest_wait, .. }: Backlog) -> Option<Limit> {
    let age = account.max_pending_age_seconds.map(|seconds| Duration::from_secs(u64::from(seconds)));
    if account.max_pending.is_some_and(|most| pending.rows >= most) {
        Some(Limit::AccountRows)
    } else if account.max_pending_bytes.is_some_and(|most| pending.bytes >= most) {
        Some(Limit::AccountBytes)
    } else {
        age.is_some_and(|most| longest_wait >= most).then_some(Limit::AccountAge)
    }
}

/// Whether `found` is above `part / whole` of `limit`.
fn is_past_share(found: u64, limit: u64, part: u64, whole: u64) -> bool {
    u128::from(found) * u128::from(whole) > u128::from(limit) * u128::from(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_core::scheduler::{Depth, SchedulerOptions};
    use postrider_store::Change;

    const CAPPED: AccountId = AccountId::from_u64(1);
    const OTHER: AccountId = AccountId::from_u64(2);
    const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000);

    /// One account has waited so many hours, and so many of them for nothing but a slot that anybody could have had.
    fn check(hours: u64, uncapped: u64, expected: [Result<(), Refusal>; 2]) {
        let mut catalog = Catalog::default();
        for id in [CAPPED, OTHER] {
            catalog.apply(Change::PutAccount(Account::new(id, "shop".into(), NOW)));
        }
        let [longest_wait, uncapped_wait] = [hours, uncapped].map(|hours| Duration::from_secs(hours * 3600));
        let waits = Backlog { pending: Depth { rows: 5, bytes: 5 }, longest_wait, uncapped_wait };
        let admission = Admission::new(BacklogLimits::default());
        admission
            .hear(Elsewhere { accounts: [(CAPPED, waits)].into_iter().collect(), ..Elsewhere::default() });
        let scheduler = Scheduler::new(SchedulerOptions::of_slots(8));
        admission.observe(&scheduler, &RwLock::new(catalog), NOW);
        assert_eq!([CAPPED, OTHER].map(|id| admission.admit(id, NOW)), expected, "{hours} {uncapped}");
    }

    #[test]
    fn who_waits_for_a_cap_of_its_own_is_refused_alone() {
        check(5, 5, [Ok(()), Ok(())]);
        check(7, 5, [Err(Refusal::Account(Limit::Age)), Ok(())]);
        check(7, 7, [Err(Refusal::All(Limit::Age)); 2]);
    }
}
