//! What was accepted and left no trace: by the store, which is walked when the gateway has stopped, and by the receivers,
//! which have counted what they answered.

use crate::terminal::counted;
use postrider_store::DeliveryAudit;

/// None of these is ever anything but 0, unless the gateway breaks its promise.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Losses {
    /// Events that were accepted and are not in the store.
    events: u64,
    /// Deliveries that are neither made nor given up on nor owed.
    orphans: u64,
    /// Deliveries that are told to be made and that no receiver has answered with success.
    unseen: u64,
}

impl Losses {
    /// `succeeded` is how many requests all receivers have answered so.
    pub(super) fn of(accepted: usize, audit: &DeliveryAudit, succeeded: u64) -> Losses {
        Losses {
            events: (accepted as u64).saturating_sub(audit.events),
            orphans: audit.orphans,
            unseen: audit.delivered.saturating_sub(succeeded),
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.events + self.orphans + self.unseen
    }

    pub(super) fn text(&self) -> String {
        let Losses { events, orphans, unseen } = self;
        let (events, orphans, unseen) =
            (counted(*events, "event"), counted(*orphans, "delivery"), counted(*unseen, "delivery"));
        format!(
            "{events} accepted and not in the store, {orphans} neither delivered nor pending nor a dead letter, \
             {unseen} recorded as delivered but not received"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_left_no_trace_is_lost() {
        let whole =
            DeliveryAudit { events: 10, delivered: 30, dead: 5, owed: 15, ..DeliveryAudit::default() };
        for (accepted, audit, succeeded, lost) in [
            (10, whole.clone(), 30, 0),
            // A request that was answered and is made again is no loss, nor is an event that nobody was told of.
            (10, whole.clone(), 31, 0),
            (9, whole.clone(), 30, 0),
            (12, whole.clone(), 30, 2),
            (10, whole.clone(), 27, 3),
            (10, DeliveryAudit { orphans: 1, ..whole }, 30, 1),
        ] {
            let losses = Losses::of(accepted, &audit, succeeded);
            assert_eq!(losses.total(), lost, "{}", losses.text());
        }
    }
}
