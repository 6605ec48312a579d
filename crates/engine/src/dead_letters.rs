//! Dead letters as the rest of the program sees them: lists, one way back into the queue, one way out.
//!
//! Whatever changes them runs on the dispatcher's thread and in turn with changes of the configuration. So the
//! dispatcher is told of a revived delivery before it can meet it in a page, and no delivery is revived for a
//! destination that is being deleted.

use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::dispatch::Control;
use crate::engine::FaultSender;
use postrider_core::delivery::OrderKey;
use postrider_core::destination::Ordering;
use postrider_core::id::{AccountId, DeliveryId, time_of};
use postrider_core::limits::REPLAY_STEP_MAX;
use postrider_core::time::Timestamp;
use postrider_store::{
    DeadLetter, DeadLetterFilter, DeadLetterGroups, DeadLetterOrder, DeadLetterPage, DeadLetterQuery,
    EventDetail, Revival, Store, StoreError,
};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::mpsc;

/// Dead letters looked at in one step of a count.
const COUNT_STEP: usize = 5000;

/// What became of the wish to send a dead letter again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revived {
    /// It is queued again.
    Owed,
    /// The account has no such dead letter.
    Unknown,
    /// Its destination was deleted: there is nobody to send it to.
    NoDestination,
}

/// What came of the wish to send several again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MadeOwed {
    /// As many as have a destination.
    asked: usize,
    pub(crate) owed: usize,
}

impl MadeOwed {
    /// Somebody else took the others first, or the store failed in the middle: whoever looks again finds which.
    pub(crate) fn is_in_part(self) -> bool {
        is_in_part(self.asked, self.owed)
    }
}

/// A store that could do nothing would have said why.
fn is_in_part(asked: usize, done: usize) -> bool {
    0 < done && done < asked
}

/// The dead letters of a running engine.
pub struct DeadLetters {
    pub(crate) store: Arc<dyn Store>,
    catalog: Arc<RwLock<Catalog>>,
    pub(crate) clock: Clock,
    control: mpsc::Sender<Control>,
    pub(crate) fault: FaultSender,
    /// Changes of the configuration and of dead letters are made one at a time.
    pub(crate) changing: Arc<tokio::sync::Mutex<()>>,
    pub(crate) runtime: tokio::runtime::Handle,
}

impl DeadLetters {
    pub(crate) fn new(
        store: &Arc<dyn Store>,
        catalog: &Arc<RwLock<Catalog>>,
        clock: Clock,
        control: &mpsc::Sender<Control>,
        fault: &FaultSender,
        runtime: &tokio::runtime::Handle,
    ) -> Arc<Self> {
        Arc::new(DeadLetters {
            store: Arc::clone(store),
            catalog: Arc::clone(catalog),
            clock,
            control: control.clone(),
            fault: fault.clone(),
            changing: Arc::default(),
            runtime: runtime.clone(),
        })
    }

    /// As many as asked for, or fewer where the store would have to look through too many. One whose event its account is
    /// not shown any more is left out: it is read nowhere, and goes with the file that it is in.
    pub async fn list(&self, query: DeadLetterQuery) -> Result<DeadLetterPage, StoreError> {
        let account = query.account;
        let mut page = self.store.dead_letters(query).await?;
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(since) = catalog.shown_since(account, self.clock.now()) {
            page.items.retain(|letter| time_of(letter.event.as_u64()) >= since);
        }
        Ok(page)
    }

    /// All of an account by destination and cause.
    pub async fn groups(&self, account: AccountId, limit: usize) -> Result<DeadLetterGroups, StoreError> {
        self.store.dead_letter_groups(account, limit).await
    }

    /// One of them; `None` when the account has no such dead letter.
    pub async fn find(
        &self,
        account: AccountId,
        delivery: DeliveryId,
    ) -> Result<Option<DeadLetter>, StoreError> {
        let filter = DeadLetterFilter { deliveries: Some(vec![delivery]), ..DeadLetterFilter::default() };
        let query =
            DeadLetterQuery { account, filter, order: DeadLetterOrder::NewestFirst, after: None, limit: 1 };
        Ok(self.list(query).await?.items.pop())
    }

    /// The event of one, with its attempts; `None` when retention has dropped it.
    pub async fn event(&self, letter: &DeadLetter) -> Result<Option<EventDetail>, StoreError> {
        self.store.event_of(letter.account, letter.delivery).await
    }

    /// How many match, for somebody who asks.
    pub async fn count(&self, account: AccountId, filter: &DeadLetterFilter) -> Result<u64, StoreError> {
        self.count_by(account, filter, DeadLetterOrder::NewestFirst).await
    }

    /// The same for a job that must go on.
    pub(crate) async fn count_for_job(
        &self,
        account: AccountId,
        filter: &DeadLetterFilter,
    ) -> Result<u64, StoreError> {
        self.count_by(account, filter, DeadLetterOrder::OldestFirst).await
    }

    async fn count_by(
        &self,
        account: AccountId,
        filter: &DeadLetterFilter,
        order: DeadLetterOrder,
    ) -> Result<u64, StoreError> {
        let (mut after, mut count) = (None, 0);
        loop {
            let filter = filter.clone();
            let query = DeadLetterQuery { account, filter, order, after, limit: COUNT_STEP };
            let page = self.store.dead_letters(query).await?;
            count += page.items.len() as u64;
            match page.next {
                None => return Ok(count),
                next => after = next,
            }
        }
    }

    /// Makes one owed again, also when the caller goes away meanwhile.
    pub async fn revive(
        self: &Arc<Self>,
        account: AccountId,
        delivery: DeliveryId,
    ) -> Result<Revived, StoreError> {
        let Some(letter) = self.find(account, delivery).await? else { return Ok(Revived::Unknown) };
        let letters = Arc::clone(self);
        self.on_dispatcher(async move {
            let _turn = letters.changing.lock().await;
            if !letters.has_destination(&letter) {
                return Ok(Revived::NoDestination);
            }
            let revived = letters.revive_in_turn(account, std::slice::from_ref(&letter)).await?;
            Ok(if revived.owed == 1 { Revived::Owed } else { Revived::Unknown })
        })
        .await
    }

    /// Discards all that match and are there now; gives how many. It goes on when the caller goes away.
    pub async fn discard(
        self: &Arc<Self>,
        account: AccountId,
        filter: DeadLetterFilter,
    ) -> Result<u64, StoreError> {
        let letters = Arc::clone(self);
        self.on_dispatcher(async move {
            let filter = dead_by(&filter, letters.clock.now());
            let (order, mut after, mut count) = (DeadLetterOrder::OldestFirst, None, 0);
            loop {
                let filter = filter.clone();
                let query = DeadLetterQuery { account, filter, order, after, limit: REPLAY_STEP_MAX };
                let page = letters.store.dead_letters(query).await?;
                let discarded = letters.discard_some(account, &page.items).await?;
                count += discarded as u64;
                match page.next {
                    // The rest is looked for from the same place, and meets what the store failed at.
                    _ if is_in_part(page.items.len(), discarded) => {}
                    None => return Ok(count),
                    next => after = next,
                }
            }
        })
        .await
    }

    async fn discard_some(&self, account: AccountId, some: &[DeadLetter]) -> Result<usize, StoreError> {
        let _turn = self.changing.lock().await;
        let permit = self.control.reserve().await.map_err(stopped)?;
        let keys = some.iter().map(DeadLetter::key).collect();
        let discarded = self.store.discard(account, keys, self.clock.now()).await;
        let discarded = discarded.inspect_err(|error| self.fault.note(error))?;
        if !discarded.unblocked.is_empty() {
            permit.send(Control::Discarded(discarded.unblocked));
        }
        Ok(discarded.count)
    }

    /// Makes those owed again whose destination is there; gives how many. For whoever holds the turn, on the
    /// dispatcher's thread.
    pub(crate) async fn revive_in_turn(
        &self,
        account: AccountId,
        letters: &[DeadLetter],
    ) -> Result<MadeOwed, StoreError> {
        let revival = |letter: &DeadLetter| Revival { key: letter.key(), order: self.order_now(letter) };
        let revivals: Vec<Revival> =
            letters.iter().filter(|letter| self.has_destination(letter)).map(revival).collect();
        let asked = revivals.len();
        if asked == 0 {
            return Ok(MadeOwed { asked, owed: 0 });
        }
        // The place is taken before anything is owed, so that telling of it cannot wait.
        let permit = self.control.reserve().await.map_err(stopped)?;
        let owed = self.store.revive(account, revivals, self.clock.now()).await;
        let owed = owed.inspect_err(|error| self.fault.note(error))?;
        let made = MadeOwed { asked, owed: owed.tickets.len() };
        permit.send(Control::Revived(owed));
        Ok(made)
    }

    /// What a dead letter is ordered by, if its destination is still ordered.
    fn order_now(&self, letter: &DeadLetter) -> Option<OrderKey> {
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        let destination = catalog.destination(letter.account, letter.destination)?;
        letter.order.filter(|_| destination.ordering != Ordering::None)
    }

    fn has_destination(&self, letter: &DeadLetter) -> bool {
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        catalog.destination(letter.account, letter.destination).is_some()
    }

    pub(crate) async fn on_dispatcher<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.runtime.spawn(work).await.unwrap_or_else(|lost| Err(stopped(lost)))
    }
}

/// Only what has died by now. So a job ends although what it revives may die again.
pub(crate) fn dead_by(filter: &DeadLetterFilter, now: Timestamp) -> DeadLetterFilter {
    let end = now.after(Duration::from_millis(1));
    let until = Some(filter.until.map_or(end, |until| until.min(end)));
    DeadLetterFilter { until, ..filter.clone() }
}

fn stopped<E>(_: E) -> StoreError {
    StoreError::Unavailable("the engine has stopped".into())
}
