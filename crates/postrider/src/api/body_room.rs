//! Room for requests and answers: how many bytes of them there are at once, in one budget. Heads and bodies count while
//! they are read and until their events are written; answers until they are.
//!
//! Deadlines end each of them, but thousands of connections can have one each. What every connection may hold is small,
//! and costs no count.

use crate::memory_budget::{MemoryBudget, OverBudget, Purpose, Reservation};
use crate::own_memory;
use crate::serve::client;
use postrider_core::id::AccountId;
use postrider_core::limits::{
    BODIES_BYTES_MAX, BODIES_PER_ACCOUNT_BYTES_MAX, BODY_UNCOUNTED_BYTES_MAX as UNCOUNTED,
    REQUESTS_BYTES_MAX, REQUESTS_BYTES_MIN, REQUESTS_PART, STRANGERS_BYTES_MAX,
};
use postrider_engine::IngestError;
use std::future::Future;
use std::sync::LazyLock;

/// What known accounts send.
const ACCOUNTS: usize = 0;
/// Heads that are not whole, and bodies of those who have shown neither a key nor the token of a source.
const STRANGERS: usize = 1;
const ANSWERS: usize = 2;

/// What they are called in the metrics.
pub(super) const PURPOSES: [&str; 3] = ["accounts", "unauthenticated", "responses"];

type Room = MemoryBudget<{ PURPOSES.len() }>;

/// That of the process: it has one memory, however many ways in there are.
static ROOM: LazyLock<Room> = LazyLock::new(|| {
    let [total, most, each, strangers] = shares(own_memory::bytes());
    room(total, most, each, strangers)
});

/// What there is with so much memory: in all, for bodies of accounts, for one account, and for strangers.
fn shares(memory_bytes: u64) -> [usize; 4] {
    let part = usize::try_from(memory_bytes).unwrap_or(usize::MAX) / REQUESTS_PART;
    let total = part.clamp(REQUESTS_BYTES_MIN, REQUESTS_BYTES_MAX);
    let of = |most: usize| (most as u128 * total as u128 / REQUESTS_BYTES_MAX as u128) as usize;
    [total, of(BODIES_BYTES_MAX), of(BODIES_PER_ACCOUNT_BYTES_MAX), of(STRANGERS_BYTES_MAX)]
}

fn room(total: usize, most: usize, each: usize, strangers: usize) -> Room {
    let purposes = [Purpose::new(most, each), Purpose::new(strangers, strangers), Purpose::new(most, each)];
    MemoryBudget::new(total, purposes)
}

/// What is held for each purpose now.
pub(super) fn taken() -> [usize; PURPOSES.len()] {
    [ACCOUNTS, STRANGERS, ANSWERS].map(|purpose| ROOM.taken(purpose))
}

/// What one request or answer takes of the room; given back when dropped.
pub(crate) struct Held(Reservation<{ PURPOSES.len() }>);

impl Held {
    /// Nothing yet. What no account sends is counted together: that of strangers apart from that of the others.
    pub(crate) fn nothing(account: Option<AccountId>) -> Self {
        match account {
            None if !client::is_recognized() => Held(Reservation::new(&ROOM, STRANGERS, 0)),
            account => Held::of(&ROOM, account),
        }
    }

    /// All that an answer takes; `asker` tells apart whom answers are for.
    pub(super) fn for_answer(asker: u64, bytes: usize) -> Result<Self, OverBudget> {
        let mut held = Held(Reservation::new(&ROOM, ANSWERS, asker));
        held.0.grow_to(bytes).map(|()| held)
    }

    /// All that a part of an export takes, whichever key of its account asked for it.
    pub(super) fn for_export(account: AccountId, bytes: usize) -> Result<Self, OverBudget> {
        Held::for_answer(spread(account), bytes)
    }

    fn of(room: &'static Room, account: Option<AccountId>) -> Self {
        Held(Reservation::new(room, ACCOUNTS, account.map_or(0, spread)))
    }

    /// Takes what is missing, once it is more than every connection may have.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<(), OverBudget> {
        if bytes > UNCOUNTED { self.0.grow_to(bytes) } else { Ok(()) }
    }

    /// Waits for an event to be written. It will be, also if its sender hangs up meanwhile, so until then the room stays
    /// taken: in a task of its own, since the sender's ends with it.
    pub(super) async fn until<T, F>(self, written: F) -> Result<T, IngestError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, IngestError>> + Send + 'static,
    {
        if self.0.bytes() == 0 {
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

/// Ids that follow on one another fall far apart.
fn spread(account: AccountId) -> u64 {
    account.as_u64().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    const BODY: usize = 2 * UNCOUNTED;

    fn room() -> &'static Room {
        Box::leak(Box::new(super::room(5 * BODY, 4 * BODY, 2 * BODY, BODY)))
    }

    fn hold(room: &'static Room, account: u64) -> Result<Held, OverBudget> {
        let mut held = Held::of(room, Some(AccountId::from_u64(account)));
        held.grow_to(BODY).map(|()| held)
    }

    #[test]
    fn a_small_memory_has_less_room_and_always_enough_for_a_batch() {
        const MIB: usize = 1024 * 1024;
        for (memory, expected) in [
            (u64::MAX, [256, 160, 80, 32]),
            (2048 * MIB as u64, [256, 160, 80, 32]),
            (1024 * MIB as u64, [128, 80, 40, 16]),
            (256 * MIB as u64, [32, 20, 10, 4]),
            (1, [32, 20, 10, 4]),
        ] {
            assert_eq!(shares(memory), expected.map(|mebibytes| mebibytes * MIB), "{memory}");
        }
    }

    #[test]
    fn one_account_leaves_room_for_the_others() {
        let room = room();
        let held = [1, 1].map(|account| hold(room, account).unwrap());
        assert!(hold(room, 1).is_err() && hold(room, 2).is_ok());
        assert_eq!(room.taken(ACCOUNTS), 2 * BODY, "who was refused has taken nothing");
        drop(held);
    }

    #[test]
    fn a_small_body_takes_none_and_one_that_grows_takes_all_of_itself() {
        let room = room();
        let mut held = Held::of(room, None);
        held.grow_to(UNCOUNTED).unwrap();
        assert_eq!(room.taken(ACCOUNTS), 0);
        held.grow_to(UNCOUNTED + 1).unwrap();
        held.grow_to(10).unwrap();
        assert_eq!(room.taken(ACCOUNTS), UNCOUNTED + 1);
        assert_eq!(held.grow_to(3 * BODY), Err(OverBudget));
        drop(held);
        assert_eq!(room.taken(ACCOUNTS), 0);
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
        assert_eq!(room.taken(ACCOUNTS), BODY);
        write.send(()).unwrap();
        tokio::task::yield_now().await;
        assert_eq!(room.taken(ACCOUNTS), 0);
    }
}
