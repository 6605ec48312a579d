//! Room for bodies: how many bytes of them there are at once, while they are read and until their events are written; and
//! as much for answers, until they are.
//!
//! Deadlines end each body, but thousands of connections can have one each. A refusal costs two loads from memory, and a
//! small body nothing at all.

use postrider_core::id::AccountId;
use postrider_core::limits::{
    BODIES_BYTES_MAX, BODIES_PER_ACCOUNT_BYTES_MAX, BODY_UNCOUNTED_BYTES_MAX as UNCOUNTED,
};
use postrider_engine::IngestError;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Accounts are told apart by so many counts, so that none needs a lock. Two that meet in one share a part.
const PARTS: usize = 64;

/// That of the process: it has one memory, however many ways in there are.
static ROOM: BodyRoom = BodyRoom::new(BODIES_BYTES_MAX, BODIES_PER_ACCOUNT_BYTES_MAX);

static ANSWERS: BodyRoom = BodyRoom::new(BODIES_BYTES_MAX, BODIES_PER_ACCOUNT_BYTES_MAX);

struct BodyRoom {
    taken: AtomicUsize,
    most: usize,
    parts: [AtomicUsize; PARTS],
    part_most: usize,
}

/// What one body takes of the room; given back when dropped.
pub(crate) struct Held {
    room: &'static BodyRoom,
    part: usize,
    bytes: usize,
}

/// There is no room for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Crowded;

impl BodyRoom {
    const fn new(most: usize, part_most: usize) -> Self {
        BodyRoom {
            taken: AtomicUsize::new(0),
            most,
            parts: [const { AtomicUsize::new(0) }; PARTS],
            part_most,
        }
    }

    fn take(&self, part: usize, bytes: usize) -> Result<(), Crowded> {
        take(&self.parts[part], bytes, self.part_most)?;
        take(&self.taken, bytes, self.most).inspect_err(|_| {
            self.parts[part].fetch_sub(bytes, Relaxed);
        })
    }
}

/// Not even for a moment more than there is: somebody else would be refused for it.
fn take(count: &AtomicUsize, bytes: usize, most: usize) -> Result<(), Crowded> {
    let within = |taken: usize| taken.checked_add(bytes).filter(|sum| *sum <= most);
    count.fetch_update(Relaxed, Relaxed, within).map(drop).map_err(|_| Crowded)
}

impl Held {
    /// Nothing yet. What no account sends is counted together.
    pub(super) fn nothing(account: Option<AccountId>) -> Self {
        Held::of(&ROOM, account)
    }

    /// All that an answer takes; `asker` tells apart whom answers are for.
    pub(super) fn for_answer(asker: u64, bytes: usize) -> Result<Self, Crowded> {
        let mut held = Held { room: &ANSWERS, part: asker as usize % PARTS, bytes: 0 };
        held.grow_to(bytes).map(|()| held)
    }

    fn of(room: &'static BodyRoom, account: Option<AccountId>) -> Self {
        // Ids that follow on one another fall far apart.
        let spread = |id: AccountId| id.as_u64().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let part = account.map_or(0, |id| spread(id) as usize % (PARTS - 1) + 1);
        Held { room, part, bytes: 0 }
    }

    /// Takes what is missing, once it is more than every connection may have.
    pub(super) fn grow_to(&mut self, bytes: usize) -> Result<(), Crowded> {
        let more = bytes.saturating_sub(self.bytes);
        if bytes > UNCOUNTED && more > 0 {
            self.room.take(self.part, more)?;
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Waits for an event to be written. It will be, also if its sender hangs up meanwhile, so until then the room stays
    /// taken: in a task of its own, since the sender's ends with it.
    pub(super) async fn until<T, F>(self, written: F) -> Result<T, IngestError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, IngestError>> + Send + 'static,
    {
        if self.bytes == 0 {
            return written.await;
        }
        let waiting = tokio::spawn(async move {
            let written = written.await;
            drop(self);
            written
        });
        waiting.await.unwrap_or(Err(IngestError::Unavailable))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.room.parts[self.part].fetch_sub(self.bytes, Relaxed);
        self.room.taken.fetch_sub(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    const BODY: usize = 2 * UNCOUNTED;

    fn room() -> &'static BodyRoom {
        Box::leak(Box::new(BodyRoom::new(4 * BODY, 2 * BODY)))
    }

    fn hold(room: &'static BodyRoom, account: u64) -> Result<Held, Crowded> {
        let mut held = Held::of(room, Some(AccountId::from_u64(account)));
        held.grow_to(BODY).map(|()| held)
    }

    #[test]
    fn bodies_have_room_until_it_is_taken_and_again_when_one_is_gone() {
        let room = room();
        let mut held: Vec<Held> = [1, 1, 2, 2].map(|account| hold(room, account).unwrap()).into();
        assert!(hold(room, 3).is_err());
        held.pop();
        held.push(hold(room, 3).unwrap());
        assert!(hold(room, 4).is_err());
        held.clear();
        assert!(room.parts.iter().chain([&room.taken]).all(|count| count.load(Relaxed) == 0));
    }

    #[test]
    fn one_account_leaves_room_for_the_others() {
        let room = room();
        let held = [1, 1].map(|account| hold(room, account).unwrap());
        assert!(hold(room, 1).is_err() && hold(room, 2).is_ok());
        assert_eq!(room.taken.load(Relaxed), 2 * BODY, "who was refused has taken nothing");
        drop(held);
    }

    #[test]
    fn a_small_body_takes_none_and_one_that_grows_takes_all_of_itself() {
        let room = room();
        let mut held = Held::of(room, None);
        held.grow_to(UNCOUNTED).unwrap();
        assert_eq!(room.taken.load(Relaxed), 0);
        held.grow_to(UNCOUNTED + 1).unwrap();
        held.grow_to(10).unwrap();
        assert_eq!(room.taken.load(Relaxed), UNCOUNTED + 1);
        assert_eq!(held.grow_to(3 * BODY), Err(Crowded));
        drop(held);
        assert_eq!(room.taken.load(Relaxed), 0);
    }

    #[tokio::test]
    async fn a_sender_that_hangs_up_leaves_its_room_taken_until_its_event_is_written() {
        let room = room();
        let (write, written) = oneshot::channel::<()>();
        let waiting =
            hold(room, 1).unwrap().until(async move { written.await.map_err(|_| IngestError::Stopping) });
        let sender = tokio::spawn(waiting);
        tokio::task::yield_now().await;
        sender.abort();
        assert!(sender.await.unwrap_err().is_cancelled());
        assert_eq!(room.taken.load(Relaxed), BODY);
        write.send(()).unwrap();
        tokio::task::yield_now().await;
        assert_eq!(room.taken.load(Relaxed), 0);
    }
}
