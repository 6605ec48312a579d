//! Replays: jobs that make dead letters owed again, in steps, at a rate, over restarts.
//!
//! What is to be done is what is still a dead letter, so a job that was cut off anywhere goes on with the rest and
//! nothing is owed twice. Each job is a task on the dispatcher's thread.

mod owned;
mod pace;
mod run;

use crate::dead_letters::{DeadLetters, dead_by};
use crate::engine::Ids;
use postrider_core::id::{AccountId, ReplayId};
use postrider_core::limits::{REPLAYS_ENDED_MAX, REPLAYS_OPEN_MAX};
use postrider_store::{DeadLetterFilter, Replay, ReplayState, Shards, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Why a replay was not made or changed.
#[derive(Debug)]
pub enum ReplayError {
    /// The account has no such replay.
    Unknown,
    /// It is done or cancelled, and stays so.
    Ended(ReplayState),
    /// The account has too many that are not ended.
    TooMany,
    /// The store could not.
    Store(StoreError),
}

impl From<StoreError> for ReplayError {
    fn from(error: StoreError) -> Self {
        ReplayError::Store(error)
    }
}

/// What is to change of a replay.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplayChange {
    /// Where it is to stand.
    pub state: Option<ReplayState>,
    /// How fast it is to go; `Some(None)` takes the limit away.
    pub rate_per_second: Option<Option<f64>>,
}

/// The replays of a running engine.
pub struct Replays {
    letters: Arc<DeadLetters>,
    ids: Ids,
    /// As the store has them, or will have in a moment.
    jobs: Mutex<BTreeMap<ReplayId, Replay>>,
    /// Those that have a task.
    running: Mutex<BTreeSet<ReplayId>>,
    /// The shards whose replays run here, on a store of several nodes.
    own: Mutex<Shards>,
    /// Held by who reads how they stand.
    looking: tokio::sync::Mutex<()>,
    /// Told whenever somebody changes a job, so that its task looks again.
    changed: watch::Sender<()>,
    stopping: AtomicBool,
}

impl Replays {
    /// With what an earlier run left, which goes on when it is told to.
    pub(crate) async fn load(letters: Arc<DeadLetters>, ids: Ids) -> Result<Arc<Self>, StoreError> {
        let known = if letters.store.is_shared() { Vec::new() } else { letters.store.replays().await? };
        let jobs = Mutex::new(known.into_iter().map(|replay| (replay.id, replay)).collect());
        let (changed, stopping) = (watch::Sender::new(()), AtomicBool::new(false));
        let (running, own, looking) = (Mutex::default(), Mutex::default(), tokio::sync::Mutex::default());
        Ok(Arc::new(Replays { letters, ids, jobs, running, own, looking, changed, stopping }))
    }

    /// Goes on with all that is not ended, once the dispatcher knows the destinations.
    pub(crate) fn resume_all(self: &Arc<Self>) {
        let open = |replay: &&Replay| !replay.state.is_final();
        let open: Vec<ReplayId> = self.jobs().values().filter(open).map(|replay| replay.id).collect();
        open.into_iter().for_each(|id| self.start(id));
    }

    pub(crate) fn letters(&self) -> &Arc<DeadLetters> {
        &self.letters
    }

    /// Makes no more steps. Jobs stay as they are and go on after the next start.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.changed.send_replace(());
    }

    /// Makes a job over all that match and are there now.
    pub async fn create(
        self: &Arc<Self>,
        account: AccountId,
        filter: DeadLetterFilter,
        rate_per_second: Option<f64>,
    ) -> Result<Replay, ReplayError> {
        if self.has_too_many(account).await? {
            return Err(ReplayError::TooMany);
        }
        let now = self.letters.clock.now();
        let total = self.letters.count(account, &dead_by(&filter, now)).await?;
        let replay = Replay {
            id: ReplayId::from_u64(self.ids.next(now)),
            account,
            filter,
            rate_per_second,
            state: ReplayState::Running,
            total,
            done: 0,
            skipped: 0,
            created_at: now,
            updated_at: now,
            ended_at: None,
        };
        let (replays, made) = (Arc::clone(self), replay.clone());
        let begun = self.letters.on_dispatcher(async move {
            let _turn = replays.letters.changing.lock().await;
            // Others may have been made while this one was counted.
            if replays.has_too_many(account).await? {
                return Ok(Err(ReplayError::TooMany));
            }
            replays.put(made.clone()).await?;
            if !replays.letters.store.is_shared() {
                replays.start_new(made.id);
            }
            Ok(Ok(()))
        });
        begun.await??;
        Ok(replay)
    }

    async fn has_too_many(&self, account: AccountId) -> Result<bool, StoreError> {
        let of_account = self.list(account).await?;
        Ok(of_account.iter().filter(|replay| !replay.state.is_final()).count() >= REPLAYS_OPEN_MAX)
    }

    /// Those of an account, newest first.
    pub async fn list(&self, account: AccountId) -> Result<Vec<Replay>, StoreError> {
        let all = match self.letters.store.is_shared() {
            true => self.letters.store.replays().await?,
            false => self.jobs().values().cloned().collect(),
        };
        Ok(all.into_iter().rev().filter(|replay| replay.account == account).collect())
    }

    /// One of an account.
    pub async fn find(&self, account: AccountId, id: ReplayId) -> Result<Option<Replay>, StoreError> {
        Ok(self.list(account).await?.into_iter().find(|replay| replay.id == id))
    }

    /// Pauses, resumes, cancels, or changes the rate; also when the caller goes away meanwhile.
    pub async fn change(
        self: &Arc<Self>,
        account: AccountId,
        id: ReplayId,
        change: ReplayChange,
    ) -> Result<Replay, ReplayError> {
        let replays = Arc::clone(self);
        let changed = self.letters.on_dispatcher(async move {
            let _turn = replays.letters.changing.lock().await;
            let Some(mut replay) = replays.find(account, id).await? else {
                return Ok(Err(ReplayError::Unknown));
            };
            if replay.state.is_final() {
                return Ok(Err(ReplayError::Ended(replay.state)));
            }
            replay.state = change.state.unwrap_or(replay.state);
            replay.rate_per_second = change.rate_per_second.unwrap_or(replay.rate_per_second);
            replay.updated_at = replays.letters.clock.now();
            replay.ended_at = replay.state.is_final().then_some(replay.updated_at);
            replays.put(replay.clone()).await?;
            replays.changed.send_replace(());
            // Another node may have ended it meanwhile, and then it stays so.
            match replays.find(account, id).await? {
                Some(now) if now.state.is_final() && now.state != replay.state => {
                    Ok(Err(ReplayError::Ended(now.state)))
                }
                _ => Ok(Ok(replay)),
            }
        });
        changed.await?
    }

    /// To the store first: what a caller is told survives a crash.
    async fn put(&self, replay: Replay) -> Result<(), StoreError> {
        let put = self.letters.store.put_replay(replay.clone()).await;
        put.inspect_err(|error| self.letters.fault.note(error))?;
        if !self.letters.store.is_shared() {
            self.note(replay);
        }
        Ok(())
    }

    /// Forgets the same as the store does.
    fn note(&self, replay: Replay) {
        let account = replay.account;
        let mut jobs = self.jobs();
        jobs.insert(replay.id, replay);
        let ended = |found: &&Replay| found.account == account && found.state.is_final();
        let past = jobs.values().rev().filter(ended).map(|found| found.id).nth(REPLAYS_ENDED_MAX);
        if let Some(past) = past {
            jobs.remove(&past);
        }
    }

    fn jobs(&self) -> MutexGuard<'_, BTreeMap<ReplayId, Replay>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
