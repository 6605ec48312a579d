//! What must be done so that a gateway is as a file says. Deciding only: nothing is sent from here.

use super::difference::{Difference, differences};
use super::kind::Kind;
use super::node::Mistake;
use super::object::{Declared, Existing};
use super::secret::{self, Secret};
use serde_json::Value;

/// What is asked for beside what the file says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wishes<'a> {
    /// What the file does not hold is deleted.
    pub(super) prune: bool,
    /// Secrets of what is there already are sent too.
    pub(super) rotate_secrets: bool,
    /// The key that makes the calls. It is not revoked: it could not make the next.
    pub(super) key: &'a str,
}

#[derive(Debug, Default)]
pub(super) struct Plan {
    /// In the order in which they are made.
    pub(super) steps: Vec<Step>,
    /// What the file does not hold, and is left alone.
    pub(super) unmanaged: Vec<Existing>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Create { declared: Declared, differences: Vec<Difference> },
    Change { declared: Declared, existing: Existing, differences: Vec<Difference> },
    Delete { existing: Existing },
}

impl Step {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Step::Create { declared, .. } | Step::Change { declared, .. } => declared.kind,
            Step::Delete { existing } => existing.kind,
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Step::Create { declared, .. } | Step::Change { declared, .. } => &declared.name,
            Step::Delete { existing } => &existing.name,
        }
    }

    pub(super) fn differences(&self) -> &[Difference] {
        match self {
            Step::Create { differences, .. } | Step::Change { differences, .. } => differences,
            Step::Delete { .. } => &[],
        }
    }

    /// No event is lost on the way: what routes lead to and from is there before them and goes after them, new routes
    /// are there before old ones go, and a source is opened when its routes are there.
    fn rank(&self) -> u8 {
        match (self, self.kind()) {
            (Step::Create { .. } | Step::Change { .. }, Kind::Destination) => 0,
            (Step::Create { .. }, Kind::Source) => 1,
            (Step::Create { .. }, Kind::Route) => 2,
            (Step::Change { .. }, Kind::Route) => 3,
            (Step::Change { .. }, Kind::Source) => 4,
            (Step::Create { .. } | Step::Change { .. }, Kind::EventType) => 5,
            (Step::Create { .. } | Step::Change { .. }, Kind::ApiKey) => 6,
            (Step::Delete { .. }, Kind::Route) => 7,
            (Step::Delete { .. }, Kind::Source) => 8,
            (Step::Delete { .. }, Kind::Destination) => 9,
            (Step::Delete { .. }, Kind::EventType) => 10,
            (Step::Delete { .. }, Kind::ApiKey) => 11,
        }
    }
}

/// The plan, or what stands in its way.
pub(super) fn plan(
    declared: &[Declared],
    existing: &[Existing],
    wishes: Wishes<'_>,
) -> Result<Plan, Vec<Mistake>> {
    let (mut steps, mut mistakes) = (Vec::new(), Vec::new());
    let partners = partners(declared, existing);
    for (object, partner) in declared.iter().zip(&partners) {
        check_alone(object, existing, &mut mistakes);
        let step = step(object, partner.map(|index| &existing[index]), wishes);
        steps.extend(step.inspect(|step| check(step, object, &mut mistakes)));
    }
    let unmanaged = (0..existing.len()).filter(|index| !partners.contains(&Some(*index)));
    let (mut unmanaged, mut gone): (Vec<Existing>, Vec<Existing>) =
        unmanaged.map(|index| existing[index].clone()).partition(|_| !wishes.prune);
    let makes_calls = |object: &mut Existing| {
        object.key_prefix.as_deref().is_some_and(|prefix| wishes.key.starts_with(prefix))
    };
    unmanaged.extend(gone.extract_if(.., makes_calls));
    steps.extend(gone.into_iter().map(|existing| Step::Delete { existing }));
    steps.sort_by_key(Step::rank);
    mistakes.sort();
    if mistakes.is_empty() { Ok(Plan { steps, unmanaged }) } else { Err(mistakes) }
}

/// For each that is declared, which it is at the gateway. Routes with the same ends and types are told apart by their
/// filter, and then by their order.
fn partners(declared: &[Declared], existing: &[Existing]) -> Vec<Option<usize>> {
    let mut partners: Vec<Option<usize>> = vec![None; declared.len()];
    for same_filter in [true, false] {
        for (at, object) in declared.iter().enumerate() {
            let fits = |index: &usize| {
                let other = &existing[*index];
                // Names first: a large file is compared with a large gateway, each with each.
                object.kind == other.kind
                    && object.name == other.name
                    && (!same_filter || object.settings.get("filter") == other.settings.get("filter"))
            };
            if partners[at].is_none() {
                partners[at] =
                    (0..existing.len()).filter(fits).find(|index| !partners.contains(&Some(*index)));
            }
        }
    }
    partners
}

/// A name that several have at the gateway says nothing.
fn check_alone(object: &Declared, existing: &[Existing], mistakes: &mut Vec<Mistake>) {
    let same = existing.iter().filter(|one| one.kind == object.kind && one.name == object.name);
    let ids: Vec<&str> = same.map(|one| one.id.as_str()).collect();
    if object.kind != Kind::Route && ids.len() > 1 {
        let (section, name) = (object.kind.section(), &object.name);
        let sentence = format!(
            "The gateway has several {section} named {name} ({}); rename or delete all but one.",
            ids.join(", ")
        );
        mistakes.push(Mistake::at(object.place, sentence));
    }
}

fn step(declared: &Declared, existing: Option<&Existing>, wishes: Wishes<'_>) -> Option<Step> {
    let differences = differences(declared, existing.map(|existing| &existing.settings), wishes);
    let declared = declared.clone();
    match existing.cloned() {
        None => Some(Step::Create { declared, differences }),
        Some(_) if differences.is_empty() => None,
        Some(existing) => Some(Step::Change { declared, existing, differences }),
    }
}

fn check(step: &Step, declared: &Declared, mistakes: &mut Vec<Mistake>) {
    for difference in step.differences() {
        match difference {
            Difference::Secret(Secret { field, variable, place }) if secret::set(variable).is_none() => {
                let sentence = format!("{field} must be sent, but the variable {variable} is not set.");
                mistakes.push(Mistake::at(*place, sentence));
            }
            Difference::Setting { field, before, .. }
                if declared.kind == Kind::ApiKey && field == "scope" && *before != Value::Null =>
            {
                let name = &declared.name;
                let sentence = format!(
                    "The API key {name} has scope {before}, which cannot be changed; give the new one another name."
                );
                mistakes.push(Mistake::at(declared.place, sentence));
            }
            Difference::Secret(_) | Difference::Setting { .. } => {}
        }
    }
}
