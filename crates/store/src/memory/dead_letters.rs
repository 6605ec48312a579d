//! What was given up on, in memory.

use super::data::{Data, place};
use crate::dead_letter::{
    DeadLetter, DeadLetterKey, DeadLetterOrder, DeadLetterPage, DeadLetterQuery, Discarded, OwedAgain,
    Revival,
};
use crate::dead_letter_groups::{DeadLetterGroup, DeadLetterGroups};
use crate::stats::StatsChange;
use postrider_core::id::AccountId;
use postrider_core::time::Timestamp;

impl Data {
    pub(super) fn list_dead_letters(&self, query: &DeadLetterQuery) -> DeadLetterPage {
        let asked_for = |letter: &&DeadLetter| {
            let behind = match (query.after, query.order) {
                (None, _) => true,
                (Some(after), DeadLetterOrder::NewestFirst) => letter.position() < after,
                (Some(after), DeadLetterOrder::OldestFirst) => letter.position() > after,
            };
            behind && letter.account == query.account && query.filter.matches(letter)
        };
        let listed = self.dead_letters.values().filter(|buried| !buried.discarded);
        let mut items: Vec<DeadLetter> =
            listed.map(|buried| &buried.letter).filter(asked_for).cloned().collect();
        items.sort_unstable_by_key(DeadLetter::position);
        if query.order == DeadLetterOrder::NewestFirst {
            items.reverse();
        }
        let more = items.len() > query.limit;
        items.truncate(query.limit);
        let next = items.last().map(DeadLetter::position).filter(|_| more);
        DeadLetterPage { items, next }
    }

    pub(super) fn group_dead_letters(&self, account: AccountId, limit: usize) -> DeadLetterGroups {
        let listed = self.dead_letters.values().filter(|buried| !buried.discarded);
        let own = listed.map(|buried| &buried.letter).filter(|letter| letter.account == account);
        let alone = |letter: &DeadLetter| DeadLetterGroup {
            destination: letter.destination,
            reason: letter.reason,
            count: 1,
            last_died_at: letter.died_at,
            last_error: letter.last_error.clone(),
        };
        DeadLetterGroups::gather(own.map(alone), limit)
    }

    pub(super) fn revive(&mut self, account: AccountId, revivals: &[Revival], now: Timestamp) -> OwedAgain {
        let mut all = OwedAgain::default();
        let mut change = StatsChange::default();
        for revival in revivals {
            let Some(letter) = self.listed(account, revival.key).cloned() else { continue };
            self.dead_letters.remove(&letter.delivery);
            let blocked = self.queue.remove(&place(&letter.blocked()));
            all.unblocked.extend(blocked.map(|owed| owed.ticket));
            let ticket = letter.revived(revival.order, now);
            self.owe(account, ticket);
            all.tickets.push(ticket);
            change.revived(account, now);
        }
        self.count(&change);
        all
    }

    pub(super) fn discard(&mut self, account: AccountId, letters: &[DeadLetterKey]) -> Discarded {
        let mut discarded = Discarded::default();
        for key in letters {
            let Some(letter) = self.listed(account, *key).cloned() else { continue };
            if let Some(buried) = self.dead_letters.get_mut(&letter.delivery) {
                buried.discarded = true;
            }
            discarded.count += 1;
            let blocked = self.queue.remove(&place(&letter.blocked()));
            discarded.unblocked.extend(blocked.map(|owed| owed.ticket));
        }
        discarded
    }

    fn listed(&self, account: AccountId, key: DeadLetterKey) -> Option<&DeadLetter> {
        let buried = self.dead_letters.get(&key.delivery).filter(|buried| !buried.discarded)?;
        Some(&buried.letter).filter(|letter| letter.account == account && letter.event == key.event)
    }
}
