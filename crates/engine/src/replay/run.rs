//! The task of one replay.

use super::Replays;
use super::pace::Pace;
use crate::dead_letters::dead_by;
use postrider_core::id::ReplayId;
use postrider_store::{
    DeadLetterOrder, DeadLetterPosition, DeadLetterQuery, Replay, ReplayState, StoreError,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;

/// A step that failed is tried again after this.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// What a step came to.
enum Step {
    /// So many were made owed; go on behind this one.
    Made(usize, Option<DeadLetterPosition>),
    /// Somebody changed the job meanwhile: look again.
    Stale,
    /// There are no more.
    Last,
}

impl Replays {
    /// Of a job that was cut off nobody knows how far it came, but what is left shows it.
    pub(super) async fn resume(self: Arc<Self>, id: ReplayId) {
        let Some(replay) = self.jobs().get(&id).cloned() else { return };
        let filter = dead_by(&replay.filter, replay.created_at);
        match self.letters.count_for_job(replay.account, &filter).await {
            Ok(left) => {
                if let Some(job) = self.jobs().get_mut(&id) {
                    (job.done, job.skipped) = come_to(&replay, left);
                }
            }
            Err(error) => {
                let account = replay.account;
                tracing::warn!(%error, replay = %id, %account, "failed to count the progress of a replay");
            }
        }
        self.run(id).await;
    }

    /// Runs until the job is ended or the engine stops.
    pub(super) async fn run(self: Arc<Self>, id: ReplayId) {
        let mut changed = self.changed.subscribe();
        let (mut pace, mut after) = (Pace::start(Instant::now()), None);
        loop {
            let Some(replay) = self.jobs().get(&id).cloned() else { return };
            if replay.state.is_final() || self.stopping.load(Ordering::Relaxed) {
                return;
            }
            if replay.state == ReplayState::Paused {
                let _ = changed.changed().await;
                continue;
            }
            let due = pace.next(replay.rate_per_second);
            tokio::select! {
                () = tokio::time::sleep_until(due) => {}
                _ = changed.changed() => continue,
            }
            match self.step(&replay, after).await {
                Ok(Step::Made(made, next)) => {
                    pace.made(made, due, Instant::now());
                    after = next;
                }
                Ok(Step::Stale) => {}
                Ok(Step::Last) => return,
                Err(error) => {
                    let account = replay.account;
                    tracing::warn!(%error, replay = %id, %account, "a step of a replay failed; retrying");
                    tokio::time::sleep(TRY_AGAIN).await;
                }
            }
        }
    }

    async fn step(&self, seen: &Replay, after: Option<DeadLetterPosition>) -> Result<Step, StoreError> {
        let query = DeadLetterQuery {
            account: seen.account,
            filter: dead_by(&seen.filter, seen.created_at),
            order: DeadLetterOrder::OldestFirst,
            after,
            limit: Pace::step(seen.rate_per_second),
        };
        let page = self.letters.store.dead_letters(query).await?;
        let _turn = self.letters.changing.lock().await;
        let now = self.jobs().get(&seen.id).cloned();
        let Some(mut replay) = now.filter(|now| now.state == ReplayState::Running) else {
            return Ok(Step::Stale);
        };
        if self.stopping.load(Ordering::Relaxed) {
            return Ok(Step::Stale);
        }
        let made = self.letters.revive_in_turn(seen.account, &page.items).await?;
        replay.done += made.owed as u64;
        replay.updated_at = self.letters.clock.now();
        let next = if made.is_in_part() {
            // What is left is looked for from the same place: it may be there yet, and is not to be passed over.
            after
        } else {
            replay.skipped += (page.items.len() - made.owed) as u64;
            if page.next.is_none() {
                end(&mut replay);
            }
            page.next
        };
        let noted = self.letters.store.note_replay(replay.clone()).await;
        match noted.inspect_err(|error| self.letters.fault.note(error)) {
            Ok(Some(as_it_is)) => replay = as_it_is,
            // Forgotten meanwhile, which only an ended one is.
            Ok(None) => replay.state = ReplayState::Cancelled,
            // What is owed is owed: the count is noted here also when the store cannot take it now.
            Err(error) => {
                let account = seen.account;
                tracing::warn!(%error, replay = %seen.id, %account, "failed to store the progress of a replay");
            }
        }
        let ended = replay.state.is_final();
        if ended {
            let Replay { id, account, done, skipped, .. } = &replay;
            tracing::info!(replay = %id, %account, done, skipped, state = replay.state.as_str(), "replay finished");
        }
        self.note_own(replay);
        Ok(if ended { Step::Last } else { Step::Made(made.owed, next) })
    }

    /// Unless it became another node's meanwhile.
    fn note_own(&self, replay: Replay) {
        if self.jobs().contains_key(&replay.id) {
            self.note(replay);
        }
    }
}

/// How many a job that was cut off has made owed, and how many somebody else took before it, when so many are left. Of
/// its last step nobody knows whether it was noted; what is missing beyond that was not its doing. What it skipped and is
/// still there is among those left, and is looked at again.
fn come_to(replay: &Replay, left: u64) -> (u64, u64) {
    let missing = replay.total.saturating_sub(replay.done + left);
    let in_doubt = match replay.state {
        ReplayState::Running => Pace::step(replay.rate_per_second) as u64,
        // Whoever stopped it waited for its step.
        ReplayState::Paused | ReplayState::Done | ReplayState::Cancelled => 0,
    };
    let own = missing.min(in_doubt);
    (replay.done + own, missing - own)
}

/// What was neither made owed nor found any more was taken by somebody else.
fn end(replay: &mut Replay) {
    replay.state = ReplayState::Done;
    replay.ended_at = Some(replay.updated_at);
    replay.total = replay.total.max(replay.done + replay.skipped);
    replay.skipped = replay.total - replay.done;
}
