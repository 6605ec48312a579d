//! What commits write of starts, in a run that follows an unclean stop.

use super::super::Dispatcher;
use super::Commits;
use postrider_core::delivery::Ticket;
use postrider_store::{Batch, Start};

impl Commits {
    pub(in super::super) fn take_start(&mut self, start: Start) {
        self.starts.push(start);
    }

    pub(in super::super) fn take_end(&mut self, end: Start) {
        self.ends.push(end);
    }

    /// Forgets starts and ends that are no longer this node's to write.
    pub(in super::super) fn drop_starts(&mut self, unwanted: impl Fn(&Start) -> bool) {
        self.starts.retain(|start| !unwanted(start));
        self.ends.retain(|end| !unwanted(end));
    }

    /// The deliveries of outcomes that wait.
    fn outcomes(&self) -> impl Iterator<Item = &Ticket> {
        let finished = self.finished.iter().map(|finished| &finished.ticket);
        finished.chain(self.given_up.iter().map(|given_up| &given_up.ticket))
    }
}

impl Dispatcher {
    /// The starts of the next batch, and of which deliveries it is to forget what is noted: those whose outcomes are in it,
    /// and those that were not begun after all.
    pub(super) fn next_starts(&mut self) -> (Vec<Start>, Vec<Start>) {
        let mut ends = std::mem::take(&mut self.commits.ends);
        let known = self.commits.outcomes().filter(|ticket| self.gate.is_known(ticket.delivery));
        ends.extend(known.map(|ticket| Start::of(ticket, 0)));
        // A batch that failed has given back ends of outcomes that it gave back too.
        ends.sort_unstable_by_key(|end| end.delivery);
        ends.dedup_by_key(|end| end.delivery);
        (std::mem::take(&mut self.commits.starts), ends)
    }

    /// After a commit that failed. What was lost meanwhile is not to be begun here, and what is noted of it is its next
    /// owner's.
    pub(super) fn keep_starts(&mut self, batch: &Batch) {
        let starts = batch.starts.iter().filter(|start| self.gate.is_noting(start.delivery));
        self.commits.starts.splice(0..0, starts.copied());
        let ends = batch.ends.iter().filter(|end| self.owned.shards.own(end.destination));
        self.commits.ends.extend(ends.copied());
    }

    /// Starts and outcomes of a batch are on disk.
    pub(super) fn starts_written(&mut self, batch: &Batch) {
        self.meters.starts_noted.add(batch.starts.len());
        let outcomes = batch.finished.iter().map(|finished| finished.ticket.delivery);
        let outcomes = outcomes.chain(batch.given_up.iter().map(|given_up| given_up.ticket.delivery));
        outcomes.for_each(|delivery| self.gate.forgotten(delivery));
        for start in &batch.starts {
            if let Some(ticket) = self.gate.noted(start.delivery) {
                self.begin(ticket);
            }
        }
    }
}
