//! What the scheduler promises, as its users see it: at the receivers, in the API, over restarts and kills.

mod account_limits;
mod admission;
mod circuit;
mod concurrency;
mod gone;
mod isolation;
mod line;
mod order;
mod pause;
mod priorities;
mod queue;
mod rate;
mod retries;
mod retry_after;
mod settings;
mod shares;
mod stage;

pub(crate) use admission::check_refused;
pub(crate) use stage::Stage;
