//! Changing what is configured: in the store first, then in memory, then in the scheduler.

use super::{ChangeError, Engine};
use crate::catalog::{Catalog, Prepared};
use crate::dispatch::Control;
use crate::maintenance;
use postrider_core::breaker::{Circuit, CircuitOrder};
use postrider_core::destination::{OnDeadLetter, Ordering};
use postrider_core::id::DestinationId;
use postrider_core::scheduler::Input;
use postrider_core::time::Timestamp;
use postrider_store::{Change, Destination, DestinationStatus, Mail, StoreError};
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OwnedMutexGuard, mpsc, oneshot};

/// What other nodes have changed is known within milliseconds.
const CATCH_UP_MAX: Duration = Duration::from_secs(5);
/// The owner of a destination hears an order within milliseconds, and tells what it does every second.
const ORDER_MAX: Duration = Duration::from_secs(2);
/// Each look is a few queries.
const ORDER_LOOK: Duration = Duration::from_millis(50);

/// A change that was begun. Other nodes wait for their turn until this one has made it, be it none: one that is refused,
/// or whose caller goes away before it is decided, is ended.
struct Begun {
    engine: Arc<Engine>,
    /// Until the change is being made.
    turn: Option<OwnedMutexGuard<()>>,
}

impl Begun {
    /// Waits until what other nodes have changed is known here, and keeps them from changing more.
    async fn catch_up(mut self) -> Result<Self, StoreError> {
        let version = match self.engine.store.begin_change().await {
            Ok(version) => version,
            // There is nothing to end.
            Err(error) => {
                self.turn = None;
                return Err(error);
            }
        };
        let mut heard = self.engine.heard_version.subscribe();
        let in_time = tokio::time::timeout(CATCH_UP_MAX, heard.wait_for(|heard| *heard >= version)).await;
        let late =
            || StoreError::Unavailable("what other nodes have configured is not known here yet".into());
        in_time.map(drop).map_err(|_| late())?;
        Ok(self)
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        let engine = Arc::clone(&self.engine);
        drop(self.engine.runtime.spawn(async move {
            if let Err(error) = engine.store.configure(Vec::new()).await {
                tracing::warn!(%error, "failed to roll back a change");
            }
            drop(turn);
        }));
    }
}

impl Engine {
    /// Changes the configuration: `decide` looks at it as it is and says what changes. Made whole or not at all,
    /// also when the caller goes away meanwhile.
    pub async fn change<T, E>(
        self: &Arc<Self>,
        decide: impl FnOnce(&Catalog) -> Result<(Vec<Change>, T), E>,
    ) -> Result<T, ChangeError<E>> {
        let turn = Arc::clone(&self.changing).lock_owned().await;
        let begun = Begun { engine: Arc::clone(self), turn: Some(turn) };
        let lost = |_| StoreError::Unavailable("the engine has stopped".into());
        let begun = self.runtime.spawn(begun.catch_up()).await;
        let mut begun = begun.map_err(lost).and_then(|begun| begun).map_err(ChangeError::Store)?;
        let (changes, value) = decide(&self.catalog()).map_err(ChangeError::Refused)?;
        // Compiled here: on the thread on which changes are made everything else is decided.
        let prepared = changes.iter().cloned().map(Prepared::from).collect();
        let (engine, turn) = (Arc::clone(self), begun.turn.take());
        let made = self.runtime.spawn(async move {
            let made = engine.make(changes, prepared).await;
            drop(turn);
            made
        });
        made.await.map_err(lost).and_then(|made| made).map_err(ChangeError::Store)?;
        Ok(value)
    }

    async fn make(&self, changes: Vec<Change>, prepared: Vec<Prepared>) -> Result<(), StoreError> {
        let configured = self.store.configure(changes.clone()).await;
        configured.inspect_err(|error| self.fault.note(error))?;
        for (change, prepared) in changes.into_iter().zip(prepared) {
            let told = told(&change);
            let (deleted, released) = (deleted(&change), released(&change));
            let disabled =
                self.tell_watchers(&change).filter(|change| change.status == DestinationStatus::Disabled);
            self.catalog.write().unwrap_or_else(PoisonError::into_inner).apply(prepared);
            if let Some(told) = told {
                self.tell(Control::Input(told)).await;
            }
            if let Some(disabled) = disabled {
                self.tell(Control::Announce(disabled.notice())).await;
            }
            if let Some(id) = deleted {
                self.bury(id);
            }
            if let Some(id) = released {
                self.tell(Control::Release(id)).await;
            }
        }
        Ok(())
    }

    /// An operator's word about a destination's circuit. Once this is `Ok`, it outlives the process.
    pub async fn order_circuit(
        &self,
        destination: DestinationId,
        order: CircuitOrder,
    ) -> Result<(), StoreError> {
        if self.store.is_shared() {
            let before = self.circuit_of(destination).await?;
            self.store.send_mail(Mail::Circuit(destination, order)).await?;
            self.circuit_moves(destination, before, order).await;
            return Ok(());
        }
        let (reply, answer) = oneshot::channel();
        self.tell(Control::Circuit(destination, order, reply)).await;
        answer.await.unwrap_or_else(|_| Err(StoreError::Unavailable("the engine has stopped".into())))
    }

    /// Where a circuit stands, as far as it is known here.
    async fn circuit_of(&self, destination: DestinationId) -> Result<Circuit, StoreError> {
        let activity = self.activity_of(vec![destination]).await?;
        let view = activity.seen(destination).and_then(|seen| seen.view);
        Ok(view.map_or(Circuit::Closed, |view| view.circuit))
    }

    /// Waits a while for its owner to do as it was told, so that whoever looks next sees it done.
    async fn circuit_moves(&self, destination: DestinationId, before: Circuit, order: CircuitOrder) {
        let moved = async {
            // The order is on record: what cannot be seen now is done all the same.
            while let Ok(now) = self.circuit_of(destination).await {
                if now != before || now == order.circuit() {
                    return;
                }
                tokio::time::sleep(ORDER_LOOK).await;
            }
        };
        let _ = tokio::time::timeout(ORDER_MAX, moved).await;
    }

    /// Has the scheduler go by what is configured.
    async fn tell_settings(&self, id: DestinationId) {
        let known = self.catalog().any_destination(id).cloned();
        if let Some(known) = known {
            self.tell(Control::Input(Input::Configure(id, known.settings(Timestamp::ZERO)))).await;
        }
    }

    pub(super) fn bury(&self, destination: DestinationId) {
        self.runtime.spawn(maintenance::bury(
            Arc::clone(&self.store),
            self.clock,
            destination,
            self.fault.clone(),
            Arc::clone(&self.meters),
        ));
    }
}

/// What the scheduler must hear of a change.
pub(super) fn told(change: &Change) -> Option<Input> {
    match change {
        Change::PutAccount(account) => Some(Input::Share(account.id, account.share())),
        Change::DeleteAccount(id) => Some(Input::Forget(*id)),
        Change::PutDestination(destination) => {
            Some(Input::Configure(destination.id, destination.settings(Timestamp::ZERO)))
        }
        Change::DeleteDestination(id) => Some(Input::Remove(*id)),
        _ => None,
    }
}

pub(super) fn deleted(change: &Change) -> Option<DestinationId> {
    if let Change::DeleteDestination(id) = change { Some(*id) } else { None }
}

/// The destination whose lines wait for no dead letter any more.
pub(super) fn released(change: &Change) -> Option<DestinationId> {
    match change {
        Change::PutDestination(destination) if !waits_for_dead_letters(destination) => Some(destination.id),
        _ => None,
    }
}

pub(super) fn waits_for_dead_letters(destination: &Destination) -> bool {
    destination.ordering != Ordering::None && destination.on_dead_letter == OnDeadLetter::Block
}

/// Disables destinations whose receiver answered that it is gone for good. What they are owed is kept.
pub(super) async fn disable_gone(engine: Weak<Engine>, mut gone: mpsc::Receiver<DestinationId>) {
    while let Some(id) = gone.recv().await {
        let Some(engine) = engine.upgrade() else { return };
        let reason = format!("The receiver responded 410 Gone at {}.", engine.clock.now());
        let decide = |catalog: &Catalog| {
            let active = catalog.any_destination(id).filter(|found| found.active).ok_or(())?;
            let disabled = Destination { active: false, disabled_reason: Some(reason), ..(**active).clone() };
            let account = disabled.account;
            Ok::<_, ()>((vec![Change::PutDestination(Box::new(disabled))], account))
        };
        match engine.change(decide).await {
            Ok(account) => {
                tracing::warn!(destination = %id, %account, "destination disabled: the receiver responded 410 Gone");
            }
            Err(ChangeError::Refused(())) => {}
            Err(ChangeError::Store(error)) => {
                let account =
                    engine.catalog().any_destination(id).map(|found| tracing::field::display(found.account));
                tracing::warn!(%error, destination = %id, account, "failed to disable a destination; retrying");
                engine.tell_settings(id).await;
            }
        }
    }
}
