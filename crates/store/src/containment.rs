//! How far a panic reaches. One in contained work costs that work alone: a request, an attempt, a query. Any other may have
//! left behind what the gateway cannot go on with, so the binary ends the process.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

thread_local! {
    /// How many pieces of contained work this thread is inside of.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Contained work panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

/// Whether a panic of this thread, now, costs only the work that it is inside of.
pub fn is_contained() -> bool {
    DEPTH.get() > 0
}

/// Runs work whose panic costs nothing else.
pub fn contain<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    DEPTH.set(DEPTH.get() + 1);
    let done = catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    done.map_err(|_| Panicked)
}

/// The same for one poll of a future, which must not be polled again after a panic.
pub fn contain_poll<T>(poll: impl FnOnce() -> Poll<T>) -> Poll<Result<T, Panicked>> {
    match contain(poll) {
        Ok(polled) => polled.map(Ok),
        Err(panicked) => Poll::Ready(Err(panicked)),
    }
}

/// A future whose panic costs nothing else.
pub fn contained<F: Future>(work: F) -> Contained<F> {
    Contained(Box::pin(work))
}

/// See [`contained`].
pub struct Contained<F>(Pin<Box<F>>);

impl<F: Future> Future for Contained<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        contain_poll(|| self.0.as_mut().poll(context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_inside_of_contained_work_is_contained() {
        assert!(!is_contained());
        let inside = contain(|| {
            let panicked = contain(|| -> bool { panic!("planted by a test") });
            (panicked, is_contained())
        });
        assert_eq!(inside, Ok((Err(Panicked), true)));
        assert!(!is_contained());
    }

    #[tokio::test]
    async fn a_future_is_contained_whenever_it_is_polled() {
        let twice = contained(async {
            let first = is_contained();
            tokio::task::yield_now().await;
            (first, is_contained())
        });
        assert_eq!(twice.await, Ok((true, true)));
        let panics = contained(async {
            tokio::task::yield_now().await;
            panic!("planted by a test");
        });
        assert_eq!(panics.await, Err::<(), _>(Panicked));
        assert!(!is_contained());
    }
}
