//! The ledger against the store: what is owed is exactly what is in the queue, and every delivery has its end.

use super::{Ledger, Stand, retried};
use crate::breach::Breach;
use crate::report::Report;
use postrider_core::delivery::{DeliveryStatus, Ticket};
use postrider_core::id::{DeliveryId, EventId};
use postrider_core::outcome::Next;
use postrider_store::EventDetail;
use std::collections::{BTreeMap, BTreeSet};

impl Ledger {
    /// While nothing is in flight the queue must hold what is owed, row by row. What a crash hid is learned here.
    pub(crate) fn audit_queue(&mut self, rows: &[Ticket]) -> Result<(), Breach> {
        assert!(self.in_flight.is_empty(), "an audit is for a gateway at rest");
        let by_delivery: BTreeMap<DeliveryId, &Ticket> = rows.iter().map(|row| (row.delivery, row)).collect();
        self.learn(&by_delivery)?;
        for row in rows {
            let entry = self.entries.get(&row.delivery).ok_or(Breach::WrongRow(*row))?;
            let legal = match entry.stand {
                Stand::Owed => entry.ticket == *row,
                Stand::Doomed => true,
                Stand::InFlight | Stand::Delivered | Stand::Dead => false,
            };
            if !legal {
                return Err(Breach::WrongRow(*row));
            }
        }
        let mut owed = self.owed.values().flatten().map(|(_, delivery)| *delivery);
        match owed.find(|delivery| !by_delivery.contains_key(delivery)) {
            Some(lost) => Err(Breach::Lost(lost)),
            None => Ok(()),
        }
    }

    /// What was in flight at a crash is either as it was, or as its answer made it.
    fn learn(&mut self, rows: &BTreeMap<DeliveryId, &Ticket>) -> Result<(), Breach> {
        for (delivery, answered) in std::mem::take(&mut self.unsure) {
            let entry = self.entries.get_mut(&delivery).expect("what was sent was accepted");
            let before = entry.ticket;
            match (rows.get(&delivery), answered) {
                (Some(row), _) if **row == before => {
                    entry.stand = Stand::Owed;
                    entry.excused = true;
                    self.owe(before);
                }
                (Some(row), Some(Next::Retry { due })) if **row == retried(&before, due) => {
                    self.settle(delivery, Next::Retry { due });
                }
                (None, Some(end @ (Next::Delivered | Next::Dead(_)))) => self.settle(delivery, end),
                (Some(row), _) => return Err(Breach::WrongRow(**row)),
                (None, _) => return Err(Breach::Lost(delivery)),
            }
        }
        Ok(())
    }

    /// The events of all that was accepted.
    pub(crate) fn events(&self) -> BTreeSet<EventId> {
        self.entries.values().map(|entry| entry.ticket.event).collect()
    }

    /// At the end every delivery is delivered or dead, as the receiver saw it, with its attempts in a row.
    pub(crate) fn audit_end(&self, event: &EventDetail, report: &mut Report) -> Result<(), Breach> {
        for delivery in &event.deliveries {
            let id = delivery.id;
            let entry = self.entries.get(&id).ok_or(Breach::Phantom(id))?;
            let counter = match (entry.stand, delivery.status) {
                (Stand::Delivered, DeliveryStatus::Delivered) => &mut report.delivered,
                (Stand::Dead, DeliveryStatus::DeadLetter) => &mut report.dead,
                (Stand::Doomed, DeliveryStatus::DeadLetter | DeliveryStatus::Delivered) => &mut report.buried,
                _ => return Err(Breach::WrongEnd(id)),
            };
            *counter += 1;
            report.accepted += 1;
            let numbers = event.attempts.iter().filter(|attempt| attempt.delivery == id);
            if !numbers.map(|attempt| attempt.number).eq(1..=delivery.attempts) {
                return Err(Breach::WrongAttempts(id));
            }
        }
        Ok(())
    }
}
