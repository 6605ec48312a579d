//! The books are compared: with the store's queue after every stop, with events and dead letters at the end.

use super::{Ledger, Stand};
use crate::breach::Breach;
use crate::report::Report;
use postrider_core::delivery::{DeliveryStatus, Ticket};
use postrider_core::id::{AccountId, DeliveryId, EventId};
use postrider_store::{DeadLetter, EventDetail};
use std::collections::{BTreeMap, BTreeSet};

impl Ledger {
    /// While nothing is in flight the queue must hold what is owed and what blocks, row by row.
    pub(crate) fn audit_queue(&self, rows: &[Ticket]) -> Result<(), Breach> {
        assert!(self.in_flight.is_empty(), "an audit is for a gateway at rest");
        let by_delivery: BTreeMap<DeliveryId, &Ticket> = rows.iter().map(|row| (row.delivery, row)).collect();
        let wrong = |row: &Ticket| Breach::WrongRow(Box::new(*row));
        if by_delivery.len() < rows.len() {
            let twice = rows.iter().find(|row| by_delivery[&row.delivery] != *row);
            return Err(twice.map_or(Breach::Spins, wrong));
        }
        for row in rows {
            let entry = self.entries.get(&row.delivery).ok_or_else(|| wrong(row))?;
            let legal = match entry.stand {
                Stand::Owed | Stand::Blocks => entry.ticket == *row,
                Stand::Doomed => true,
                Stand::InFlight | Stand::Delivered | Stand::Dead => false,
            };
            if !legal {
                return Err(wrong(row));
            }
        }
        let stands = |stand| matches!(stand, Stand::Owed | Stand::Blocks);
        let mut owed = self.entries.iter().filter(|(_, entry)| stands(entry.stand)).map(|(id, _)| *id);
        match owed.find(|delivery| !by_delivery.contains_key(delivery)) {
            Some(lost) => Err(Breach::Lost(lost)),
            None => Ok(()),
        }
    }

    /// The events of all that was accepted, with whose they are.
    pub(crate) fn events(&self) -> BTreeSet<(AccountId, EventId)> {
        let owner = |ticket: &Ticket| self.destinations[&ticket.line.destination].account;
        self.entries.values().map(|entry| (owner(&entry.ticket), entry.ticket.event)).collect()
    }

    /// All accounts.
    pub(crate) fn accounts(&self) -> Vec<AccountId> {
        self.accounts.keys().copied().collect()
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
            report.revived += entry.revivals as u64;
            let own = event.attempts.iter().filter(|attempt| attempt.delivery == id);
            let numbers: Vec<u32> = own.map(|attempt| attempt.number).collect();
            // Each time it was made owed again its attempts were counted from one.
            let in_a_row = numbers.windows(2).all(|pair| pair[1] == pair[0] + 1 || pair[1] == 1);
            let starts = numbers.iter().filter(|number| **number == 1).count();
            if !in_a_row || starts > entry.revivals + 1 || numbers.first().is_some_and(|first| *first != 1) {
                return Err(Breach::WrongAttempts(id));
            }
        }
        Ok(())
    }

    /// At the end there is one dead letter for each delivery that was given up on and not discarded.
    pub(crate) fn audit_dead_letters(&self, listed: &[DeadLetter]) -> Result<(), Breach> {
        let mut seen = BTreeSet::new();
        for letter in listed {
            let id = letter.delivery;
            let entry = self.entries.get(&id).ok_or(Breach::Phantom(id))?;
            let legal = matches!(entry.stand, Stand::Dead | Stand::Doomed) && !entry.discarded;
            if !legal || !seen.insert(id) {
                return Err(Breach::WrongDeadLetter(id));
            }
        }
        let given_up =
            self.entries.iter().filter(|(_, entry)| entry.stand == Stand::Dead && !entry.discarded);
        match given_up.map(|(id, _)| *id).find(|id| !seen.contains(id)) {
            Some(missing) => Err(Breach::WrongDeadLetter(missing)),
            None => Ok(()),
        }
    }
}
