//! Operational webhooks: what befalls destinations is told as events of the gateway's own, to a destination that the
//! operator chose and to one that the account chose.
//!
//! Never in a circle. What befalls the operator's destination is told to nobody, what befalls an account's to the
//! operator alone: so each event is about something that is told about nothing further up.

mod notice;
mod pace;

pub(crate) use notice::{Notice, NoticeKind};
pub(crate) use pace::Telling;

use crate::catalog::Catalog;
use pace::Pace;
use postrider_core::id::DestinationId;
use postrider_core::map::IdMap;
use postrider_core::time::Timestamp;

/// Who is told what, and how often.
#[derive(Debug, Default)]
pub(crate) struct Operational {
    /// Where the operator is told.
    operator: Option<DestinationId>,
    paces: IdMap<DestinationId, Pace>,
}

impl Operational {
    pub(crate) fn new(operator: Option<DestinationId>) -> Self {
        Operational { operator, paces: IdMap::default() }
    }

    /// What is to be told now, and to which destinations.
    pub(crate) fn offer(
        &mut self,
        notice: &Notice,
        catalog: &Catalog,
        now: Timestamp,
    ) -> Vec<(DestinationId, Telling)> {
        let receivers = receivers(self.operator, notice, catalog);
        let tell = |to: DestinationId| {
            let pace = self.paces.entry(to).or_default();
            pace.offer(notice.clone(), now).map(|telling| (to, telling))
        };
        receivers.into_iter().flatten().filter_map(tell).collect()
    }

    /// What was gathered and is to be told now.
    pub(crate) fn due(&mut self, now: Timestamp) -> Vec<(DestinationId, Telling)> {
        let mut due = Vec::new();
        self.paces.retain(|to, pace| {
            due.extend(pace.due(now).into_iter().map(|telling| (*to, telling)));
            !pace.is_rested()
        });
        due
    }

    /// When something must be looked at again.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.paces.values().filter_map(Pace::next).min()
    }
}

/// The operator's destination and the account's, as far as they are there and are to be told of this.
fn receivers(
    operator: Option<DestinationId>,
    notice: &Notice,
    catalog: &Catalog,
) -> [Option<DestinationId>; 2] {
    if operator.is_some() && notice.destination == operator {
        return [None, None];
    }
    let account = notice.account.and_then(|id| catalog.account(id));
    let own = account.and_then(|account| {
        let chosen = account.operational_destination.filter(|chosen| Some(*chosen) != notice.destination)?;
        catalog.destination(account.id, chosen).map(|found| found.id)
    });
    let operator = operator.filter(|id| catalog.any_destination(*id).is_some() && Some(*id) != own);
    [operator, own]
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_core::id::AccountId;
    use postrider_store::{Account, Change, Destination};
    use serde_json::json;

    /// An account with a destination for its events; the account of the operator's destination has one too.
    fn catalog() -> Catalog {
        let mut catalog = Catalog::default();
        for (account, chosen) in [(1, 11), (2, 21)] {
            let operational_destination = Some(DestinationId::from_u64(chosen));
            let plain = Account::new(AccountId::from_u64(account), "a".into(), Timestamp::ZERO);
            catalog.apply(Change::PutAccount(Account { operational_destination, ..plain }));
        }
        for (id, account) in [(10, 1), (11, 1), (20, 2), (21, 2)] {
            let (id, account) = (DestinationId::from_u64(id), AccountId::from_u64(account));
            let (url, secret) = ("http://a.test/".into(), String::new());
            let destination = Destination::new(id, account, "d".into(), url, secret, Timestamp::ZERO);
            catalog.apply(Change::PutDestination(Box::new(destination)));
        }
        catalog
    }

    fn told(operator: Option<u64>, account: Option<u64>, about: Option<u64>) -> Vec<u64> {
        let notice = Notice {
            kind: NoticeKind::DeadLetter,
            account: account.map(AccountId::from_u64),
            destination: about.map(DestinationId::from_u64),
            facts: json!({}),
        };
        let receivers = receivers(operator.map(DestinationId::from_u64), &notice, &catalog());
        receivers.into_iter().flatten().map(DestinationId::as_u64).collect()
    }

    #[test]
    fn who_is_told_of_what_is_never_a_circle() {
        for (operator, account, about, expected) in [
            (Some(20), Some(1), Some(10), &[20, 11][..]),
            (None, Some(1), Some(10), &[11]),
            (Some(20), Some(1), Some(11), &[20]),
            (None, Some(1), Some(11), &[]),
            (Some(20), Some(2), Some(20), &[]),
            (Some(20), Some(2), Some(21), &[20]),
            (Some(11), Some(1), Some(10), &[11]),
            (Some(99), Some(1), Some(10), &[11]),
            (Some(20), None, None, &[20]),
            (Some(20), Some(1), None, &[20, 11]),
        ] {
            assert_eq!(told(operator, account, about), expected, "{operator:?} {account:?} {about:?}");
        }
    }
}
