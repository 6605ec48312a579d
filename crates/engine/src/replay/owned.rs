//! Which replays run here: all of them on a store of one node, else those of the shards that this node owns. Another
//! node's are in the store, and whoever makes or changes one writes to its owner.

use super::Replays;
use postrider_core::id::ReplayId;
use postrider_store::{Shard, Shards, StoreError};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

impl Replays {
    /// These shards are this node's own: it goes on with their replays.
    pub(crate) async fn gain(self: &Arc<Self>, shards: Shards) -> Result<(), StoreError> {
        self.change_own(|own| own.and(shards));
        let known = self.letters.store.replays().await?;
        for replay in known.into_iter().filter(|found| shards.contains(Shard::of_replay(found.id))) {
            let (id, open) = (replay.id, !replay.state.is_final());
            if open {
                self.jobs().insert(id, replay);
                self.start(id);
            }
        }
        Ok(())
    }

    /// They are not: its tasks end at their next step.
    pub(crate) fn lose(&self, shards: Shards) {
        self.change_own(|own| own.without(shards));
        self.jobs().retain(|id, _| !shards.contains(Shard::of_replay(*id)));
        self.changed.send_replace(());
    }

    /// Somebody made or changed a replay: its owner looks how it stands.
    pub(crate) async fn look(self: &Arc<Self>, id: ReplayId) -> Result<(), StoreError> {
        let known = self.letters.store.replays().await?.into_iter().find(|found| found.id == id);
        if !self.change_own(|own| own).contains(Shard::of_replay(id)) {
            return Ok(());
        }
        match known.filter(|found| !found.state.is_final()) {
            Some(replay) => {
                self.jobs().insert(id, replay);
                self.start(id);
            }
            None => drop(self.jobs().remove(&id)),
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
