//! Two columns of figures beside each other, and what is promised of them.

use crate::spread::Spread;
use crate::verdict::Goal;
use anyhow::Context as _;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Comparison {
    pub(crate) scenario: &'static str,
    pub(crate) title: String,
    /// How often it was measured; figures are medians.
    pub(crate) rounds: usize,
    /// What the two columns are.
    pub(crate) columns: [&'static str; 2],
    pub(crate) figures: Vec<Figure>,
    pub(crate) goals: Vec<Goal>,
    /// All of the goals.
    pub(crate) held: bool,
}

/// A figure of each column, where there is one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) without: Option<f64>,
    pub(crate) with: Option<f64>,
}

impl Comparison {
    pub(crate) fn new(
        scenario: &'static str,
        title: String,
        columns: [&'static str; 2],
        figures: Vec<Figure>,
        goals: Vec<Goal>,
    ) -> Comparison {
        let held = goals.iter().all(|goal| goal.held);
        Comparison { scenario, title, rounds: 1, columns, figures, goals, held }
    }

    /// One of the same comparison made several times. The title is the first one's.
    pub(crate) fn of_rounds(rounds: &[Comparison]) -> anyhow::Result<Comparison> {
        let first = rounds.first().context("no round was made")?;
        let median = |of: &dyn Fn(&Comparison) -> Option<f64>| {
            Spread::of(rounds.iter().filter_map(of)).map(|spread| spread.median)
        };
        let figure = |(at, figure): (usize, &Figure)| Figure {
            name: figure.name,
            without: median(&|round| round.figures.get(at)?.without),
            with: median(&|round| round.figures.get(at)?.with),
        };
        let figures = first.figures.iter().enumerate().map(figure).collect();
        let goal = |at| Goal::of_rounds(rounds.iter().filter_map(|round| round.goals.get(at)));
        let goals: Vec<Goal> = (0..first.goals.len()).filter_map(goal).collect();
        let whole = Comparison::new(first.scenario, first.title.clone(), first.columns, figures, goals);
        Ok(Comparison { rounds: rounds.len(), ..whole })
    }
}

impl Figure {
    pub(crate) fn both(name: &'static str, without: f64, with: f64) -> Figure {
        Figure { name, without: Some(without), with: Some(with) }
    }

    pub(crate) fn with(name: &'static str, with: f64) -> Figure {
        Figure { name, without: None, with: Some(with) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(with: f64, goals: Vec<Goal>) -> Comparison {
        let figures = vec![Figure::with("a", with), Figure::both("b", 1.0, with)];
        Comparison::new("x", "X".to_owned(), ["without", "with"], figures, goals)
    }

    #[test]
    fn a_scenario_is_held_when_each_of_its_goals_is() {
        let held = Goal::at_most("a", 1.0, 2.0);
        let missed = Goal::at_most("b", 3.0, 2.0);
        assert!(round(1.0, vec![held.clone()]).held);
        assert!(!round(1.0, vec![held, missed]).held);
    }

    #[test]
    fn of_several_rounds_the_medians_count() {
        let goal = |measured| vec![Goal::at_most("p99", measured, 2.0)];
        let rounds = [round(9.0, goal(1.0)), round(5.0, goal(7.0)), round(4.0, goal(1.5))];
        let whole = Comparison::of_rounds(&rounds).unwrap();
        assert_eq!(whole.figures, [Figure::with("a", 5.0), Figure::both("b", 1.0, 5.0)]);
        assert_eq!((whole.rounds, whole.held, whole.goals[0].measured), (3, true, 1.5));
    }

    #[test]
    fn of_what_must_never_happen_one_round_is_enough() {
        let goal = |measured| vec![Goal::at_most("lost", measured, 0.0).in_every_round()];
        let rounds = [round(1.0, goal(0.0)), round(1.0, goal(1.0)), round(1.0, goal(0.0))];
        let whole = Comparison::of_rounds(&rounds).unwrap();
        assert_eq!((whole.held, whole.goals[0].measured), (false, 1.0));
    }
}
