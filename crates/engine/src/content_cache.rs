//! Events between their commit and their last send, so that a send need not read back what was just written.
//!
//! Bounded in bytes: past the bound the oldest go, and are read from the store when their turn comes. What an attempt still
//! holds is found here too, however it came to it: the attempts of one event share one copy, as the byte budget counts it.

use postrider_core::id::EventId;
use postrider_core::map::IdMap;
use postrider_store::EventContent;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// What all else of an entry is taken to weigh beside body and headers.
const ENTRY_BYTES: usize = 512;
/// Contents that nobody holds any more are looked for when there are so many more than at the last look.
const HELD_SLACK: usize = 256;

pub(crate) struct ContentCache {
    entries: IdMap<EventId, Entry>,
    /// Oldest first; an id may be gone already.
    order: VecDeque<EventId>,
    bytes: usize,
    bytes_max: usize,
    /// What was given out, as long as somebody holds it.
    held: IdMap<EventId, Weak<EventContent>>,
    /// So many of `held` are looked through next.
    held_max: usize,
}

struct Entry {
    content: Arc<EventContent>,
    /// Sends still to come.
    uses: usize,
}

impl ContentCache {
    pub(crate) fn new(bytes_max: usize) -> Self {
        ContentCache {
            entries: IdMap::default(),
            order: VecDeque::new(),
            bytes: 0,
            bytes_max,
            held: IdMap::default(),
            held_max: HELD_SLACK,
        }
    }

    pub(crate) fn insert(&mut self, event: EventId, content: Arc<EventContent>, uses: usize) {
        if uses == 0 {
            return;
        }
        self.bytes += weight(&content);
        self.entries.insert(event, Entry { content, uses });
        self.order.push_back(event);
        while self.bytes > self.bytes_max {
            let Some(oldest) = self.order.pop_front() else { return };
            self.remove(oldest);
        }
    }

    /// Gives the event for one of its sends.
    pub(crate) fn take(&mut self, event: EventId) -> Option<Arc<EventContent>> {
        let Some(entry) = self.entries.get_mut(&event) else {
            return self.held.get(&event).and_then(Weak::upgrade);
        };
        entry.uses -= 1;
        let content = Arc::clone(&entry.content);
        if entry.uses == 0 {
            self.remove(event);
            self.forget_removed();
        }
        self.share(event, &content);
        Some(content)
    }

    /// Whoever asks for the event while this is held gets this copy of it.
    pub(crate) fn share(&mut self, event: EventId, content: &Arc<EventContent>) {
        self.held.insert(event, Arc::downgrade(content));
        if self.held.len() > self.held_max {
            self.held.retain(|_, content| content.strong_count() > 0);
            self.held_max = 2 * self.held.len() + HELD_SLACK;
        }
    }

    fn remove(&mut self, event: EventId) {
        if let Some(entry) = self.entries.remove(&event) {
            self.bytes -= weight(&entry.content);
        }
    }

    /// Keeps `order` from outgrowing the entries.
    fn forget_removed(&mut self) {
        while let Some(oldest) = self.order.front() {
            if self.entries.contains_key(oldest) {
                break;
            }
            self.order.pop_front();
        }
        if self.order.len() > 2 * self.entries.len() + 1024 {
            self.order.retain(|event| self.entries.contains_key(event));
        }
    }
}

fn weight(content: &EventContent) -> usize {
    content.body.len() + content.headers.as_text().len() + ENTRY_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use postrider_core::id::AccountId;
    use postrider_core::time::Timestamp;
    use postrider_store::{Headers, Origin};

    fn content(bytes: usize) -> Arc<EventContent> {
        Arc::new(EventContent {
            account: AccountId::from_u64(1),
            origin: Origin::Api(None),
            headers: Default::default(),
            body: Bytes::from(vec![0; bytes]),
            event_type: None,
            received_at: Timestamp::ZERO,
            window: Default::default(),
            replay_of: None,
        })
    }

    #[test]
    fn an_event_is_there_for_each_of_its_sends_and_then_gone() {
        let mut cache = ContentCache::new(10_000);
        let event = EventId::from_u64(1);
        cache.insert(event, content(10), 2);
        assert!(cache.take(event).is_some());
        assert!(cache.take(event).is_some());
        assert!(cache.take(event).is_none());
        assert_eq!((cache.bytes, cache.order.len()), (0, 0));
    }

    #[test]
    fn what_is_held_is_given_out_again_and_forgotten_with_its_last_holder() {
        let mut cache = ContentCache::new(10_000);
        for id in 0..10_000 {
            let event = EventId::from_u64(id);
            let read = content(10);
            cache.share(event, &read);
            let again = cache.take(event).expect("somebody holds it");
            assert!(Arc::ptr_eq(&read, &again));
            drop((read, again));
            assert!(cache.take(event).is_none(), "nobody holds it");
        }
        assert!(cache.held.len() <= HELD_SLACK + 1, "{}", cache.held.len());
        let event = EventId::from_u64(10_001);
        cache.insert(event, content(10), 1);
        let (sent, again) = (cache.take(event).unwrap(), cache.take(event));
        assert!(again.is_some_and(|again| Arc::ptr_eq(&sent, &again)), "its last planned send is under way");
    }

    #[test]
    fn headers_weigh_what_they_are() {
        let mut cache = ContentCache::new(100_000);
        let mut headers = Headers::default();
        headers.push("x-long", &"x".repeat(9_000));
        for id in 0..100 {
            let large = EventContent { headers: headers.clone(), ..(*content(0)).clone() };
            cache.insert(EventId::from_u64(id), Arc::new(large), 1);
        }
        assert!(cache.entries.len() <= 11, "{} of some 9.5 kB each", cache.entries.len());
    }

    #[test]
    fn the_oldest_go_when_the_bound_is_reached() {
        let mut cache = ContentCache::new(10_000);
        for id in 0..100 {
            cache.insert(EventId::from_u64(id), content(1000), 1);
            assert!(cache.bytes <= 10_000);
        }
        assert!(cache.take(EventId::from_u64(0)).is_none());
        assert!(cache.take(EventId::from_u64(99)).is_some());
    }
}
