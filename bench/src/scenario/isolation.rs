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
use crate::args::BenchArgs;
use crate::role::Receiver;
use crate::verdict::Goal;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Isolation {
    pub(crate) scenario: &'static str,
    pub(crate) title: String,
    /// What the two columns are.
    pub(crate) columns: [&'static str; 2],
    pub(crate) figures: Vec<Figure>,
    pub(crate) goals: Vec<Goal>,
    /// All of the goals.
    pub(crate) held: bool,
}

/// A figure without the trouble and with it, where there is one.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) without: Option<f64>,
    pub(crate) with: Option<f64>,
}

impl Isolation {
    fn new(scenario: &'static str, title: String, figures: Vec<Figure>, goals: Vec<Goal>) -> Isolation {
        Isolation::compared(scenario, title, ["without", "with"], figures, goals)
    }

    /// The same for columns of another kind.
    pub(crate) fn compared(
        scenario: &'static str,
        title: String,
        columns: [&'static str; 2],
        figures: Vec<Figure>,
        goals: Vec<Goal>,
    ) -> Isolation {
        let held = goals.iter().all(|goal| goal.held);
        Isolation { scenario, title, columns, figures, goals, held }
    }
}

impl Figure {
    pub(crate) fn both(name: &'static str, without: f64, with: f64) -> Figure {
        Figure { name, without: Some(without), with: Some(with) }
    }

    fn with(name: &'static str, with: f64) -> Figure {
        Figure { name, without: None, with: Some(with) }
    }
}

/// `None` for a scenario that is not about isolation.
pub(crate) async fn measure(
    name: ScenarioName,
    args: &BenchArgs,
    receiver: &Receiver,
) -> anyhow::Result<Option<Isolation>> {
    receiver.reset().await?;
    receiver.end_outage().await?;
    let measured = match name {
        ScenarioName::Throughput
        | ScenarioName::Backlog
        | ScenarioName::Ingest
        | ScenarioName::Nginx
        | ScenarioName::HalfLoad
        | ScenarioName::All => return Ok(None),
        ScenarioName::Hanging => hanging::measure(args, receiver).await?,
        ScenarioName::Storm => storm::measure(args, receiver).await?,
        ScenarioName::Critical => critical::measure(args, receiver).await?,
        ScenarioName::Flood => flood::measure(args, receiver).await?,
        ScenarioName::Chaos => chaos::measure(args, receiver).await?,
        ScenarioName::Herd => herd::measure(args, receiver).await?,
        ScenarioName::Overload => overload::measure(args, receiver).await?,
    };
    Ok(Some(measured))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_held_when_each_of_its_goals_is() {
        let held = Goal::at_most("a", 1.0, 2.0);
        let missed = Goal::at_most("b", 3.0, 2.0);
        let verdict = |goals| Isolation::new("x", String::new(), vec![], goals).held;
        assert!(verdict(vec![held.clone()]));
        assert!(!verdict(vec![held, missed]));
    }
}
