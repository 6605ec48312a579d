//! Isolation: what one destination, account or priority suffers when another is in trouble. Each scenario measures
//! without the trouble and with it, on one gateway, and holds the ratio against a goal.

mod chaos;
mod critical;
mod flood;
mod hanging;
mod herd;
mod hey;
mod memory;
mod overload;
mod stage;
mod storm;

use super::ScenarioName;
use super::comparison::{Comparison, Figure};
use crate::args::BenchArgs;
use crate::role::Receiver;

pub(crate) async fn measure(
    name: ScenarioName,
    args: &BenchArgs,
    receiver: &Receiver,
) -> anyhow::Result<Comparison> {
    match name {
        ScenarioName::Hanging => hanging::measure(args, receiver).await,
        ScenarioName::Storm => storm::measure(args, receiver).await,
        ScenarioName::Critical => critical::measure(args, receiver).await,
        ScenarioName::Flood => flood::measure(args, receiver).await,
        ScenarioName::Chaos => chaos::measure(args, receiver).await,
        ScenarioName::Herd => herd::measure(args, receiver).await,
        ScenarioName::Overload => overload::measure(args, receiver).await,
        ScenarioName::Throughput
        | ScenarioName::Backlog
        | ScenarioName::Ingest
        | ScenarioName::Nginx
        | ScenarioName::HalfLoad
        | ScenarioName::Watched
        | ScenarioName::Scrape
        | ScenarioName::Pages
        | ScenarioName::All => anyhow::bail!("{name:?} is not about isolation"),
    }
}
