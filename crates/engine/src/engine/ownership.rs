//! What this node may send: everything on a store of its own, else the shards that the news give it.

use super::changes::{deleted, released, waits_for_dead_letters};
use super::{Engine, told};
use crate::catalog::Prepared;
use crate::dispatch::{Control, Gain};
use crate::pause::{self, PAUSE_MAX};
use postrider_core::delivery::Lane;
use postrider_core::destination::Ordering;
use postrider_core::id::DestinationId;
use postrider_core::map::IdSet;
use postrider_core::pauses::Pauses;
use postrider_core::scheduler::{Depth, Input};
use postrider_core::time::Timestamp;
use postrider_store::{Change, Destination, Gained, LineDepth, Mail, Shard, Shards};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// A hand-over that failed is tried again after this, and later each time.
const HAND_OVER_RETRY: Duration = Duration::from_millis(500);

impl Engine {
    /// Makes shards this node's own, with what is owed in them.
    pub(super) async fn gain(&self, gained: Gained) {
        let Gained { shards, clean, lines, circuits, starts } = gained;
        let destinations: Vec<Arc<Destination>> = {
            let catalog = self.catalog();
            catalog.all_destinations().filter(|found| shards.own(found.id)).cloned().collect()
        };
        let settings = destinations.iter().map(|found| {
            let hold_until = self.hold_until(found, clean.contains(Shard::of(found.id)));
            (found.id, found.settings(hold_until))
        });
        let settings: Vec<_> = settings.collect();
        let known: IdSet<DestinationId> = destinations.iter().map(|found| found.id).collect();
        let (lines, orphaned): (Vec<LineDepth>, Vec<LineDepth>) =
            lines.into_iter().partition(|depth| known.contains(&depth.line.destination));
        let ordered: IdSet<DestinationId> = lines
            .iter()
            .filter(|depth| matches!(depth.line.lane, Lane::Ordered(_)))
            .map(|depth| depth.line.destination)
            .collect();
        let cut_off = shards.without(clean);
        let unclean = destinations.iter().map(|found| found.id).filter(|id| !clean.own(*id)).collect();
        self.tell(Control::Gain(Gain { shards, settings, unclean, circuits, lines, cut_off, starts })).await;
        if self.store.is_shared() {
            self.replays.gain(shards).await;
        }
        let orphans: IdSet<DestinationId> = orphaned.iter().map(|depth| depth.line.destination).collect();
        orphans.into_iter().for_each(|id| self.bury(id));
        // A change that was cut off between the store's two steps is made whole here.
        for found in destinations.iter().filter(|found| ordered.contains(&found.id)) {
            if !waits_for_dead_letters(found) {
                self.tell(Control::Release(found.id)).await;
            }
        }
    }

    /// With one attempt at a time allowed, for all or for a key, an attempt of an owner that was cut off may still
    /// be going on at the receiver until its timeout.
    fn hold_until(&self, destination: &Destination, clean: bool) -> Timestamp {
        let one_at_a_time = destination.max_concurrency.get() == 1 || destination.ordering != Ordering::None;
        if clean || !one_at_a_time {
            return Timestamp::ZERO;
        }
        let until = self.clock.now().after(destination.timeout.duration());
        self.holds.note(Shard::of(destination.id), until);
        until
    }

    /// From when it is heard: shards may be wanted by others again before they are this node's to send.
    pub(super) fn note_holds(&self, gained: &Gained) {
        let unclean = gained.shards.without(gained.clean);
        for found in self.catalog().all_destinations().filter(|found| unclean.own(found.id)) {
            self.hold_until(found, false);
        }
    }

    /// A change that another node has made: in memory and in the scheduler. What is to be done about its own is done here
    /// too. Who made the change may have died before it did so, and what this node has written since it did not find.
    pub(super) async fn take_over(&self, change: Change) {
        let told = told(&change);
        let own = |id: &DestinationId| self.replays.own().own(*id);
        let (deleted, released) = (deleted(&change).filter(own), released(&change).filter(own));
        // Who has made the change has told the account and the operator.
        let _ = self.tell_watchers(&change);
        // Compiled elsewhere: on this thread everything else is decided.
        let change = match tokio::task::spawn_blocking(move || Prepared::from(change)).await {
            Ok(change) => change,
            Err(failed) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
            Err(_stopping) => return,
        };
        self.catalog.write().unwrap_or_else(PoisonError::into_inner).apply(change);
        if let Some(told) = told {
            self.tell(Control::Input(told)).await;
        }
        if let Some(id) = deleted {
            self.bury(id);
        }
        if let Some(id) = released {
            self.tell(Control::Release(id)).await;
        }
    }
}

/// What the dispatcher is told of a letter, unless it is for somebody else.
pub(super) fn read(mail: &Mail) -> Option<Control> {
    Some(match *mail {
        Mail::Arrived(LineDepth { line, rows, bytes }) => {
            let depth = Depth { rows, bytes };
            Control::Input(Input::Stored { line, depth })
        }
        Mail::Unblocked(ticket) => Control::Unblocked(ticket),
        Mail::Released(destination, gone) => Control::Input(Input::UnblockedAll { destination, gone }),
        Mail::Circuit(destination, order) => Control::Input(Input::Circuit(destination, order)),
        Mail::Replay(_) => return None,
    })
}

/// Lets go of shards: no new attempt, those in flight may end and are recorded, then others may have them.
pub(super) async fn hand_over(engine: Arc<Engine>, shards: Shards) {
    let (reply, idle) = oneshot::channel();
    engine.tell(Control::LetGo(shards, reply)).await;
    let _ = idle.await;
    let mut pauses = Pauses::new(HAND_OVER_RETRY, PAUSE_MAX);
    // While a hold stands, whoever has the shard next must hold too.
    let clean = || shards.without(engine.holds.standing(engine.clock.now()));
    while let Err(error) = engine.store.hand_over(shards, clean()).await {
        tracing::warn!(%error, "failed to hand over shards; retrying");
        tokio::time::sleep(pause::next(&mut pauses)).await;
    }
}
