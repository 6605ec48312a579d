//! Which replays run here: all of them on a store of one node, else those of the shards that this node owns. Another
//! node's are in the store, and whoever makes or changes one writes to its owner.

use super::Replays;
use crate::pause::{self, PAUSE_MAX};
use postrider_core::id::ReplayId;
use postrider_core::pauses::Pauses;
use postrider_store::{Replay, Shard, Shards, StoreError};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// The store is asked again how replays stand after this, and later each time.
const LOOK_RETRY: Duration = Duration::from_millis(500);

/// Which replays are looked at.
#[derive(Clone, Copy)]
enum Wanted {
    All(Shards),
    One(ReplayId),
}

impl Wanted {
    fn has(self, id: ReplayId) -> bool {
        match self {
            Wanted::All(shards) => shards.contains(Shard::of_replay(id)),
            Wanted::One(one) => one == id,
        }
    }
}

impl Replays {
    /// The shards that are this node's own.
    pub(crate) fn own(&self) -> Shards {
        self.change_own(|own| own)
    }

    /// These shards are this node's own: it goes on with their replays.
    pub(crate) async fn gain(self: &Arc<Self>, shards: Shards) {
        self.change_own(|own| own.and(shards));
        self.look_at(Wanted::All(shards)).await;
    }

    /// They are not: its tasks end at their next step.
    pub(crate) fn lose(&self, shards: Shards) {
        self.change_own(|own| own.without(shards));
        self.jobs().retain(|id, _| !shards.contains(Shard::of_replay(*id)));
        self.changed.send_replace(());
    }

    /// Somebody made or changed a replay: its owner looks how it stands.
    pub(crate) async fn look(self: &Arc<Self>, id: ReplayId) {
        self.look_at(Wanted::One(id)).await;
    }

    /// If the store cannot say how they stand, it is asked again until it can: the news that brought this come once.
    async fn look_at(self: &Arc<Self>, wanted: Wanted) {
        let Err(error) = self.try_look_at(wanted).await else { return };
        tracing::warn!(%error, "failed to read replays; retrying");
        let replays = Arc::clone(self);
        drop(self.letters.runtime.spawn(async move {
            let mut pauses = Pauses::new(LOOK_RETRY, PAUSE_MAX);
            while !replays.stopping.load(Ordering::Relaxed) && replays.try_look_at(wanted).await.is_err() {
                tokio::time::sleep(pause::next(&mut pauses)).await;
            }
        }));
    }

    async fn try_look_at(self: &Arc<Self>, wanted: Wanted) -> Result<(), StoreError> {
        // One at a time, so that what was read first is not put over what was read later.
        let _turn = self.looking.lock().await;
        let known = self.letters.store.replays().await?;
        let own = self.own();
        let is_wanted = |found: &Replay| own.contains(Shard::of_replay(found.id)) && wanted.has(found.id);
        if let Wanted::One(id) = wanted {
            self.jobs().remove(&id);
        }
        for replay in known.into_iter().filter(|found| !found.state.is_final() && is_wanted(found)) {
            let id = replay.id;
            // One that is known here has come further.
            self.jobs().entry(id).or_insert(replay);
            self.start(id);
        }
        self.changed.send_replace(());
        Ok(())
    }

    /// Has a task for one that was made before, unless there is one.
    pub(super) fn start(self: &Arc<Self>, id: ReplayId) {
        if self.begin(id) {
            let replays = Arc::clone(self);
            self.letters.runtime.spawn(async move {
                Arc::clone(&replays).resume(id).await;
                replays.end(id).await;
            });
        }
    }

    /// The same for one that was made just now.
    pub(super) fn start_new(self: &Arc<Self>, id: ReplayId) {
        if self.begin(id) {
            let replays = Arc::clone(self);
            self.letters.runtime.spawn(async move {
                Arc::clone(&replays).run(id).await;
                replays.end(id).await;
            });
        }
    }

    /// Its task ends, unless it has become this node's again meanwhile.
    async fn end(self: &Arc<Self>, id: ReplayId) {
        loop {
            self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            if !self.goes_on(id) || !self.begin(id) {
                return;
            }
            Arc::clone(self).resume(id).await;
        }
    }

    fn begin(&self, id: ReplayId) -> bool {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(id)
    }

    fn change_own(&self, change: impl FnOnce(Shards) -> Shards) -> Shards {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        *own = change(*own);
        *own
    }

    fn goes_on(&self, id: ReplayId) -> bool {
        let open = self.jobs().get(&id).is_some_and(|found| !found.state.is_final());
        open && !self.stopping.load(Ordering::Relaxed)
    }
}
