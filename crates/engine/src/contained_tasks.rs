//! What a connection of hyper's does beside its exchanges. The other side decides what is in it.

use hyper::rt::Executor;
use postrider_store::containment::contained;

/// Runs such tasks so that a panic ends their connection and nothing else.
#[derive(Clone)]
pub struct ContainedTasks;

impl<F> Executor<F> for ContainedTasks
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, task: F) {
        drop(tokio::spawn(contained(task)));
    }
}
