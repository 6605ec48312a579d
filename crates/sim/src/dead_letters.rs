//! Operators make dead letters owed again, discard them, and take them out of the way.

use crate::breach::Breach;
use crate::operators::waits_for_dead_letters;
use crate::options::Bug;
use crate::world::{Happening, World, block_on};
use postrider_core::delivery::Ticket;
use postrider_core::destination::Ordering;
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::scheduler::{Depth, Input};
use postrider_store::{DeadLetter, DeadLetterFilter, DeadLetterOrder, DeadLetterQuery, Revival, Store};
use std::time::Duration;

/// Looked at in one go.
const STEP: usize = 40;
/// After the calm someone looks for what blocks a line as often as this.
const CLEAR_UP: Duration = Duration::from_secs(600);

impl World {
    /// Dead letters of an account, the oldest first.
    pub(crate) fn dead_letters(&self, account: AccountId, limit: usize) -> Vec<DeadLetter> {
        let (filter, order) = (DeadLetterFilter::default(), DeadLetterOrder::OldestFirst);
        let query = DeadLetterQuery { account, filter, order, after: None, limit };
        block_on(self.store.dead_letters(query)).expect("the store in memory can be read").items
    }

    /// An operator goes through the dead letters of an account.
    pub(crate) fn go_through_dead_letters(&mut self, account: AccountId) -> Result<(), Breach> {
        let mut chosen = self.dead_letters(account, STEP);
        if !self.random.one_in(3) {
            let most = self.random.between(1, 5) as usize;
            chosen.truncate(most);
        }
        if self.random.one_in(4) { self.discard(account, &chosen) } else { self.revive(account, &chosen) }
    }

    /// After the calm nothing may stay behind a dead letter.
    pub(crate) fn clear_up(&mut self) -> Result<(), Breach> {
        if self.gateway.as_ref().is_some_and(|gateway| !gateway.stopping) {
            for account in self.ledger.accounts() {
                let blocking = |letter: &DeadLetter| self.ledger.blocks(letter.delivery);
                let letters = self.dead_letters(account, usize::MAX).into_iter().filter(blocking);
                let letters: Vec<DeadLetter> = letters.collect();
                self.revive(account, &letters)?;
            }
        }
        if self.ledger.owed() + self.ledger.in_flight() > 0 {
            self.plan(CLEAR_UP, Happening::ClearUp);
        }
        Ok(())
    }

    fn revive(&mut self, account: AccountId, letters: &[DeadLetter]) -> Result<(), Breach> {
        let Some(gateway) = &self.gateway else { return Ok(()) };
        let revival = |letter: &DeadLetter| {
            let destination = gateway.destinations.get(&letter.destination)?;
            let order = letter.order.filter(|_| destination.ordering != Ordering::None);
            Some(Revival { key: letter.key(), order })
        };
        let revivals: Vec<Revival> = letters.iter().filter_map(revival).collect();
        for revival in revivals {
            self.note(|| format!("revive {:?}", revival.key.delivery));
            let owed = block_on(self.store.revive(account, vec![revival], self.now));
            let owed = owed.expect("the store in memory can revive");
            self.ledger.revived(self.now, revival.key.delivery, revival.order);
            self.tell_unblocked(&owed.unblocked)?;
            for ticket in owed.tickets {
                if !self.strikes(Bug::ReplayForgotten) {
                    self.hear(Input::Owed(ticket))?;
                }
            }
        }
        Ok(())
    }

    fn discard(&mut self, account: AccountId, letters: &[DeadLetter]) -> Result<(), Breach> {
        if self.gateway.is_none() {
            return Ok(());
        }
        let keys = letters.iter().map(DeadLetter::key).collect();
        let discarded = block_on(self.store.discard(account, keys, self.now));
        let discarded = discarded.expect("the store in memory can discard");
        for letter in letters {
            self.note(|| format!("discard {:?}", letter.delivery));
            self.ledger.discarded(letter.delivery);
        }
        self.report.discarded += discarded.count as u64;
        self.tell_unblocked(&discarded.unblocked)
    }

    /// An operator's word may overtake the news of commits.
    fn tell_unblocked(&mut self, heads: &[Ticket]) -> Result<(), Breach> {
        for head in heads {
            if !self.strikes(Bug::UnblockForgotten) {
                let unblocked = Input::Unblocked { line: head.line, gone: Depth::of(head) };
                self.hear(unblocked)?;
            }
        }
        Ok(())
    }

    /// Takes all that blocks lines of a destination out of the way, if it wants it still.
    pub(crate) fn release(&mut self, id: DestinationId) -> Result<(), Breach> {
        let destination = self.gateway.as_ref().and_then(|gateway| gateway.destinations.get(&id));
        if destination.is_none_or(waits_for_dead_letters) {
            return Ok(());
        }
        let gone = block_on(self.store.release(id)).expect("the store in memory can release");
        self.ledger.unblocked_all(id);
        if gone.rows > 0 && !self.strikes(Bug::UnblockForgotten) {
            self.note(|| format!("release {gone:?} of {id}"));
            return self.hear(Input::UnblockedAll { destination: id, gone });
        }
        Ok(())
    }
}
