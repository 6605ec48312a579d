//! Questions of one kind that are asked at once are answered by one query. With much waiting, or after a batch of another
//! node, hundreds of events and lines are read, and a query for each would cost more than what it reads.

use crate::error::StoreError;
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;

/// Where whoever asked waits.
pub type Answer<A> = oneshot::Sender<Result<A, StoreError>>;

/// Questions that wait, while at most one query is on its way.
pub struct Gather<Q, A>(Mutex<Waiting<Q, A>>);

struct Waiting<Q, A> {
    questions: Vec<(Q, Answer<A>)>,
    /// Somebody takes them, until there are none.
    is_served: bool,
}

/// What to do with a question that was put.
pub struct Put<A> {
    /// Where it will be answered.
    pub answer: oneshot::Receiver<Result<A, StoreError>>,
    /// Nobody serves: whoever put it must.
    pub must_serve: bool,
}

impl<Q, A> Default for Gather<Q, A> {
    fn default() -> Self {
        Gather(Mutex::new(Waiting { questions: Vec::new(), is_served: false }))
    }
}

impl<Q, A> Gather<Q, A> {
    /// Puts a question to those that wait.
    pub fn put(&self, question: Q) -> Put<A> {
        let (say, answer) = oneshot::channel();
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.questions.push((question, say));
        let must_serve = !std::mem::replace(&mut waiting.is_served, true);
        Put { answer, must_serve }
    }

    /// The next questions, at most so many. `None` ends the service: the next that is put begins it anew.
    pub fn take(&self, most: usize) -> Option<Vec<(Q, Answer<A>)>> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.is_served = !waiting.questions.is_empty();
        let count = waiting.questions.len().min(most);
        waiting.is_served.then(|| waiting.questions.drain(..count).collect())
    }
}

/// Answers questions with what a query found for them, in their order, or with why it found nothing.
pub fn give<Q, A>(asked: Vec<(Q, Answer<A>)>, found: Result<Vec<A>, StoreError>) {
    // Whoever asked may be gone.
    match found {
        Ok(found) => asked.into_iter().zip(found).for_each(|((_, say), answer)| drop(say.send(Ok(answer)))),
        Err(error) => asked.into_iter().for_each(|(_, say)| drop(say.send(Err(error.clone())))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_serves_until_nothing_waits() {
        let gather = Gather::<u8, u8>::default();
        let first = gather.put(1);
        let (second, third) = (gather.put(2), gather.put(3));
        assert_eq!([&first, &second, &third].map(|put| put.must_serve), [true, false, false]);
        let asked = gather.take(2).unwrap();
        assert_eq!(asked.iter().map(|(question, _)| *question).collect::<Vec<_>>(), [1, 2]);
        give(asked, Ok(vec![10, 20]));
        assert!(!gather.put(4).must_serve, "the one that serves takes it too");
        give(gather.take(9).unwrap(), Err(StoreError::Full));
        assert!(gather.take(9).is_none());
        assert!(gather.put(5).must_serve);
        let answers = [first, second, third].map(|mut put| put.answer.try_recv().unwrap().ok());
        assert_eq!(answers, [Some(10), Some(20), None]);
    }
}
