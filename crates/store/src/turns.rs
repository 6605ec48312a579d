//! Whose query is next, where only so many of people's run at once: each account in turn, so that one with a thousand of
//! them makes the others wait for one of its own, and deliveries for none.

use crate::error::StoreError;
use postrider_core::id::AccountId;
use postrider_core::limits::{ACCOUNT_QUERIES_WAITING_MAX, QUERIES_WAITING_MAX};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The turns of people's queries.
pub struct Turns(Arc<Mutex<Lines>>);

/// Held while a query runs; the next begins when it is dropped.
pub struct Turn(Option<Arc<Mutex<Lines>>>);

/// Whose queries wait; without an account they are the operator's.
type Whose = Option<AccountId>;
type Line = VecDeque<oneshot::Sender<Turn>>;

struct Lines {
    free: usize,
    /// None is empty. The first is whose turn is next.
    lines: VecDeque<(Whose, Line)>,
}

impl Turns {
    /// So many run at once.
    pub fn new(at_once: usize) -> Self {
        Turns(Arc::new(Mutex::new(Lines { free: at_once, lines: VecDeque::new() })))
    }

    /// Waits for a turn. Whoever goes away meanwhile is passed over.
    pub async fn take(&self, whose: Whose) -> Result<Turn, StoreError> {
        let turn = {
            let mut lines = lock(&self.0);
            if lines.free > 0 {
                lines.free -= 1;
                return Ok(Turn(Some(Arc::clone(&self.0))));
            }
            lines.wait(whose)?
        };
        turn.await.map_err(|_| StoreError::Unavailable("the query was lost".into()))
    }
}

impl Lines {
    fn wait(&mut self, whose: Whose) -> Result<oneshot::Receiver<Turn>, StoreError> {
        self.refuse_past_bounds(whose)?;
        let (say, turn) = oneshot::channel();
        match self.lines.iter_mut().find(|(known, _)| *known == whose) {
            Some((_, line)) => line.push_back(say),
            None => self.lines.push_back((whose, VecDeque::from([say]))),
        }
        Ok(turn)
    }

    /// Those who have gone away are forgotten before anybody is refused.
    fn refuse_past_bounds(&mut self, whose: Whose) -> Result<(), StoreError> {
        if self.is_full(whose) {
            self.lines.iter_mut().for_each(|(_, line)| line.retain(|say| !say.is_closed()));
            self.lines.retain(|(_, line)| !line.is_empty());
        }
        if self.is_full(whose) { Err(StoreError::Crowded) } else { Ok(()) }
    }

    fn is_full(&self, whose: Whose) -> bool {
        let own = self.lines.iter().find(|(known, _)| *known == whose).map_or(0, |(_, line)| line.len());
        let all: usize = self.lines.iter().map(|(_, line)| line.len()).sum();
        own >= ACCOUNT_QUERIES_WAITING_MAX || all >= QUERIES_WAITING_MAX
    }

    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        let (whose, mut line) = self.lines.pop_front()?;
        let next = line.pop_front();
        if !line.is_empty() {
            self.lines.push_back((whose, line));
        }
        next
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(lines) = self.0.take() else { return };
        loop {
            let next = {
                let mut found = lock(&lines);
                let next = found.next();
                found.free += usize::from(next.is_none());
                next
            };
            let Some(next) = next else { return };
            match next.send(Turn(Some(Arc::clone(&lines)))) {
                Ok(()) => return,
                // It is for the one behind who has gone away, and is given from here.
                Err(mut turn) => drop(turn.0.take()),
            }
        }
    }
}

fn lock(lines: &Mutex<Lines>) -> MutexGuard<'_, Lines> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    fn account(number: u64) -> Whose {
        Some(AccountId::from_u64(number))
    }

    #[test]
    fn an_account_with_many_queries_lets_another_go_between_two_of_its_own() {
        let turns = Turns::new(1);
        let Poll::Ready(Ok(running)) = poll(pin!(turns.take(account(1)))) else { panic!("it is free") };
        let (mut first, mut second) = (Box::pin(turns.take(account(1))), Box::pin(turns.take(account(1))));
        let mut other = Box::pin(turns.take(account(2)));
        assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
        assert!(poll(other.as_mut()).is_pending());
        drop(running);
        let Poll::Ready(Ok(running)) = poll(first.as_mut()) else { panic!("it is next") };
        drop(running);
        assert!(poll(second.as_mut()).is_pending());
        assert!(poll(other.as_mut()).is_ready());
        assert!(poll(second.as_mut()).is_ready(), "the turn of the other was dropped");
    }

    #[test]
    fn who_has_gone_away_is_passed_over_and_takes_no_room() {
        let turns = Turns::new(1);
        let Poll::Ready(Ok(running)) = poll(pin!(turns.take(account(1)))) else { panic!("it is free") };
        for _ in 0..2 * ACCOUNT_QUERIES_WAITING_MAX {
            assert!(poll(pin!(turns.take(account(1)))).is_pending());
        }
        let mut waiting = Box::pin(turns.take(account(1)));
        assert!(poll(waiting.as_mut()).is_pending());
        drop(running);
        assert!(poll(waiting.as_mut()).is_ready());
        assert!(poll(pin!(turns.take(account(2)))).is_ready(), "nobody has it, and it is not lost");
    }

    #[test]
    fn past_the_bound_of_an_account_it_is_refused_and_another_is_not() {
        let turns = Turns::new(0);
        let mut waiting: Vec<_> = Vec::new();
        for _ in 0..ACCOUNT_QUERIES_WAITING_MAX {
            let mut one = Box::pin(turns.take(account(1)));
            assert!(poll(one.as_mut()).is_pending());
            waiting.push(one);
        }
        assert!(matches!(poll(pin!(turns.take(account(1)))), Poll::Ready(Err(StoreError::Crowded))));
        assert!(poll(pin!(turns.take(account(2)))).is_pending());
    }
}
