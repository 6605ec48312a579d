//! The other nodes: what is owed by them counts against the limits of all, and an account's attempts are shared among all.

use super::Dispatcher;
use postrider_core::id::AccountId;
use postrider_core::scheduler::{Input, Share};
use postrider_store::Elsewhere;
use std::sync::PoisonError;

impl Dispatcher {
    pub(super) fn hear_elsewhere(&mut self, elsewhere: Elsewhere) {
        let nodes = elsewhere.nodes + 1;
        self.admission.hear(elsewhere);
        if std::mem::replace(&mut self.nodes, nodes) == nodes {
            return;
        }
        let accounts = self.catalog.read().unwrap_or_else(PoisonError::into_inner).accounts();
        for account in accounts.into_iter().filter(|account| account.max_in_flight.is_some()) {
            self.share(account.id, account.share());
        }
    }

    /// An account exists or its share changed: this node has its part of it.
    pub(super) fn share(&mut self, account: AccountId, share: Share) {
        self.step(Input::Share(account, share.among(self.nodes)));
    }
}
