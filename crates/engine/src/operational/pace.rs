//! How often one receiver of operational events is told: the first at once, what follows about the same thing gathered
//! for a minute, and about so many things at most. A storm of dead letters is then a few events with a count.

use super::notice::{Notice, NoticeKind};
use postrider_core::time::Timestamp;
use std::collections::HashMap;
use std::time::Duration;

/// After an event about something, the next about the same waits for so long.
pub(crate) const QUIET: Duration = Duration::from_secs(60);
/// Things that one receiver is told about within that time.
pub(crate) const SUBJECTS_MAX: usize = 64;

/// What a receiver is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Telling {
    /// The last of those that it stands for.
    pub(crate) notice: Notice,
    /// When that was. What is gathered of one thing can be told after another that came later, and is known by this.
    pub(crate) at: Timestamp,
    /// How many it stands for.
    pub(crate) count: u64,
    /// How many were about other things and are told nowhere.
    pub(crate) untold: u64,
}

/// The pace of one receiver.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// By what they are about.
    quiet: HashMap<(NoticeKind, u64), Quiet>,
    untold: u64,
}

#[derive(Debug)]
struct Quiet {
    until: Timestamp,
    count: u64,
    last: Option<(Notice, Timestamp)>,
}

impl Pace {
    /// What to tell now; nothing when it is gathered or there is too much.
    pub(crate) fn offer(&mut self, notice: Notice, now: Timestamp) -> Option<Telling> {
        let key = (notice.kind, notice.subject());
        if let Some(quiet) = self.quiet.get_mut(&key) {
            quiet.count += 1;
            quiet.last = Some((notice, now));
            return None;
        }
        if self.quiet.len() >= SUBJECTS_MAX {
            self.untold += 1;
            return None;
        }
        self.quiet.insert(key, Quiet { until: now.after(QUIET), count: 0, last: None });
        Some(Telling { notice, at: now, count: 1, untold: std::mem::take(&mut self.untold) })
    }

    /// What was gathered and is to be told now, as it came.
    pub(crate) fn due(&mut self, now: Timestamp) -> Vec<Telling> {
        let mut due = Vec::new();
        self.quiet.retain(|_, quiet| {
            if quiet.until > now {
                return true;
            }
            let Some((notice, at)) = quiet.last.take() else { return false };
            due.push(Telling { notice, at, count: std::mem::take(&mut quiet.count), untold: 0 });
            quiet.until = now.after(QUIET);
            true
        });
        due.sort_by_key(|telling| telling.at);
        if let Some(first) = due.first_mut() {
            first.untold = std::mem::take(&mut self.untold);
        }
        due
    }

    /// When something must be looked at again.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.quiet.values().map(|quiet| quiet.until).min()
    }

    /// Whether there is nothing to remember.
    pub(crate) fn is_rested(&self) -> bool {
        self.quiet.is_empty() && self.untold == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_core::id::{AccountId, DestinationId};
    use serde_json::json;

    fn death(destination: u64, number: u64) -> Notice {
        Notice {
            kind: NoticeKind::DeadLetter,
            account: Some(AccountId::from_u64(1)),
            destination: Some(DestinationId::from_u64(destination)),
            facts: json!({ "number": number }),
        }
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_unix_ms(1_000_000 + seconds * 1000)
    }

    #[test]
    fn the_first_is_told_at_once_and_the_rest_as_one_with_a_count() {
        let mut pace = Pace::default();
        assert_eq!(
            pace.offer(death(1, 0), at(0)),
            Some(Telling { notice: death(1, 0), at: at(0), count: 1, untold: 0 })
        );
        for number in 1..=5000 {
            assert_eq!(pace.offer(death(1, number), at(1)), None);
        }
        assert!(pace.due(at(59)).is_empty());
        assert_eq!(pace.next(), Some(at(60)));
        assert_eq!(pace.due(at(60)), [Telling { notice: death(1, 5000), at: at(1), count: 5000, untold: 0 }]);
        assert_eq!(pace.offer(death(1, 1), at(61)), None, "quiet again");
        assert_eq!(pace.due(at(120)).len(), 1);
        assert!(pace.due(at(180)).is_empty() && pace.is_rested());
    }

    #[test]
    fn beyond_so_many_things_they_are_only_counted() {
        let mut pace = Pace::default();
        let most = SUBJECTS_MAX as u64;
        let told = (0..most + 10).filter(|id| pace.offer(death(*id, 0), at(0)).is_some()).count();
        assert_eq!(told as u64, most);
        assert!(pace.offer(death(0, 1), at(1)).is_none());
        let due = pace.due(at(60));
        assert_eq!(due, [Telling { notice: death(0, 1), at: at(1), count: 1, untold: 10 }]);
        assert_eq!(pace.offer(death(most, 0), at(61)).map(|told| told.untold), Some(0));
    }

    #[test]
    fn what_is_told_late_says_when_it_was_and_comes_in_its_order() {
        let mut pace = Pace::default();
        let circuit = |kind| Notice { kind, ..death(1, 0) };
        let (opened, closed) = (circuit(NoticeKind::CircuitOpened), circuit(NoticeKind::CircuitClosed));
        for about in [&opened, &closed] {
            assert!(pace.offer(about.clone(), at(0)).is_some());
        }
        // More of them than the few whose order could be right by accident.
        for destination in 2..30 {
            assert!(pace.offer(death(destination, 0), at(0)).is_some());
            assert!(pace.offer(death(destination, 1), at(destination)).is_none());
        }
        assert!(pace.offer(opened.clone(), at(40)).is_none());
        assert!(pace.offer(closed.clone(), at(41)).is_none());
        let due = pace.due(at(60));
        assert!(due.is_sorted_by_key(|telling| telling.at));
        let last: Vec<_> = due.iter().rev().take(2).map(|telling| (&telling.notice, telling.at)).collect();
        assert_eq!(last, [(&closed, at(41)), (&opened, at(40))]);
    }

    #[test]
    fn other_kinds_about_the_same_destination_are_told_apart() {
        let mut pace = Pace::default();
        assert!(pace.offer(death(1, 0), at(0)).is_some());
        let opened = Notice { kind: NoticeKind::CircuitOpened, ..death(1, 0) };
        assert!(pace.offer(opened, at(0)).is_some());
    }
}
