//! Pages: asked for, read some time later, answered later still, and some of them fail.

use crate::options::Bug;
use crate::world::{Happening, World, block_on};
use postrider_core::delivery::{Line, OrderKey};
use postrider_core::id::DestinationId;
use postrider_core::scheduler::Input;
use postrider_store::Store;
use std::time::Duration;

impl World {
    pub(crate) fn ask_for_page(&mut self, line: Line, limit: usize) {
        self.note(|| format!("ask for {limit} of {line:?}"));
        let life = self.life;
        self.ask(line.destination, Happening::ReadPage(life, line, limit));
    }

    pub(crate) fn ask_for_keys(&mut self, id: DestinationId, after: Option<OrderKey>, limit: usize) {
        self.note(|| format!("ask for {limit} of the keys of {id} past {after:?}"));
        let life = self.life;
        self.ask(id, Happening::ReadKeys(life, id, after, limit));
    }

    fn ask(&mut self, id: DestinationId, read: Happening) {
        self.report.pages += 1;
        let until_read = self.page_wait();
        self.plan(until_read, read);
        self.depart(id);
        if self.random.one_in(3) {
            self.plan_offer();
        }
    }

    /// What is read now may be out of date when it is heard.
    pub(crate) fn read_page(&mut self, line: Line, limit: usize) {
        if self.page_fails() {
            self.hear_later(Input::PageFailed(line));
            return;
        }
        if self.strikes(Bug::PageLost) {
            self.arrived(line.destination);
            return;
        }
        let page = block_on(self.store.load(line, limit)).expect("the store in memory can be read");
        // A store need not know that a page that is exactly full is the last.
        let end = page.end && (page.tickets.len() < limit || self.random.one_in(2));
        self.note(|| format!("read {} of {line:?}, end {end}", page.tickets.len()));
        let input = Input::Page { line, tickets: page.tickets, end };
        if self.strikes(Bug::PageTwice) {
            self.depart(line.destination);
            let (life, after) = (self.life, self.random.ms(1, 2_000));
            self.plan(after, Happening::Hear(life, input.clone()));
        }
        self.hear_later(input);
    }

    /// The same for the keys of an ordered lane.
    pub(crate) fn read_keys(&mut self, destination: DestinationId, after: Option<OrderKey>, limit: usize) {
        if self.page_fails() {
            self.hear_later(Input::KeysFailed(destination));
            return;
        }
        if self.strikes(Bug::KeysLost) {
            self.arrived(destination);
            return;
        }
        let page = block_on(self.store.load_keys(destination, after, limit));
        let page = page.expect("the store in memory can be read");
        let end = page.end && (page.tickets.len() < limit || self.random.one_in(2));
        self.note(|| format!("read {} of the keys of {destination}, end {end}", page.tickets.len()));
        self.hear_later(Input::Keys { destination, tickets: page.tickets, end });
    }

    fn page_fails(&mut self) -> bool {
        let fails = !self.is_calm() && self.random.one_in(10);
        self.report.failed_pages += u64::from(fails);
        fails
    }

    fn hear_later(&mut self, input: Input) {
        let (life, after) = (self.life, self.page_wait());
        self.plan(after, Happening::Hear(life, input));
    }

    fn page_wait(&mut self) -> Duration {
        if self.slow_pages { self.random.ms(0, 3_000) } else { self.random.moment() }
    }

    fn depart(&mut self, id: DestinationId) {
        if let Some(gateway) = &mut self.gateway {
            gateway.depart(id);
        }
    }

    pub(crate) fn arrived(&mut self, about: DestinationId) {
        if let Some(gateway) = &mut self.gateway {
            gateway.arrive(about);
        }
    }
}
