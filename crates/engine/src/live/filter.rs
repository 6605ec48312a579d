//! Which happenings a watcher wants. Looked at on the dispatcher's thread, so what rules out most comes first.

use super::happening::{AcceptedEvent, EventMarks, Happening};
use postrider_core::id::{AccountId, DestinationId, SourceId};
use postrider_core::pattern::EventPattern;

/// Kinds of happenings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HappeningKind {
    /// An event was accepted.
    Accepted,
    /// An attempt was made.
    Attempt,
    /// A delivery was given up on.
    DeadLetter,
    /// A circuit moved.
    Circuit,
    /// A destination was paused, resumed, disabled or enabled.
    Destination,
}

impl HappeningKind {
    /// All of them.
    pub const ALL: [HappeningKind; 5] = [
        HappeningKind::Accepted,
        HappeningKind::Attempt,
        HappeningKind::DeadLetter,
        HappeningKind::Circuit,
        HappeningKind::Destination,
    ];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            HappeningKind::Accepted => "accepted",
            HappeningKind::Attempt => "attempt",
            HappeningKind::DeadLetter => "dead_letter",
            HappeningKind::Circuit => "circuit",
            HappeningKind::Destination => "destination",
        }
    }

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Which happenings a watcher wants.
#[derive(Clone, Debug)]
pub struct LiveFilter {
    /// Of this account; `None` for all.
    pub account: Option<AccountId>,
    /// Of these kinds.
    pub kinds: Vec<HappeningKind>,
    /// About events of this source.
    pub source: Option<SourceId>,
    /// About this destination.
    pub destination: Option<DestinationId>,
    /// About events of such a type.
    pub event_type: Option<EventPattern>,
}

impl Happening {
    /// Its kind.
    pub const fn kind(&self) -> HappeningKind {
        match self {
            Happening::Accepted(_) => HappeningKind::Accepted,
            Happening::Attempt(_) => HappeningKind::Attempt,
            Happening::DeadLetter(_) => HappeningKind::DeadLetter,
            Happening::Circuit(_) => HappeningKind::Circuit,
            Happening::Destination(_) => HappeningKind::Destination,
        }
    }

    /// Whose it is.
    pub fn account(&self) -> AccountId {
        match self {
            Happening::Circuit(moved) => moved.account,
            Happening::Destination(change) => change.account,
            Happening::Accepted(AcceptedEvent { marks, .. }) => marks.account,
            Happening::Attempt(attempt) => attempt.marks.account,
            Happening::DeadLetter(death) => death.marks.account,
        }
    }

    fn marks(&self) -> Option<&EventMarks> {
        match self {
            Happening::Accepted(event) => Some(&event.marks),
            Happening::Attempt(attempt) => Some(&attempt.marks),
            Happening::DeadLetter(death) => Some(&death.marks),
            Happening::Circuit(_) | Happening::Destination(_) => None,
        }
    }

    fn is_about(&self, id: DestinationId) -> bool {
        match self {
            Happening::Accepted(event) => event.deliveries.iter().any(|(_, to, _)| *to == id),
            Happening::Attempt(attempt) => attempt.destination == id,
            Happening::DeadLetter(death) => death.destination == id,
            Happening::Circuit(moved) => moved.destination == id,
            Happening::Destination(change) => change.destination == id,
        }
    }
}

impl LiveFilter {
    /// Everything of an account, or of all.
    pub fn all_of(account: Option<AccountId>) -> Self {
        let kinds = HappeningKind::ALL.to_vec();
        LiveFilter { account, kinds, source: None, destination: None, event_type: None }
    }

    /// Whether a happening is wanted. What has neither a source nor a type fits no filter by one.
    pub fn fits(&self, happening: &Happening) -> bool {
        self.account.is_none_or(|account| happening.account() == account)
            && self.kinds.contains(&happening.kind())
            && self.destination.is_none_or(|id| happening.is_about(id))
            && (self.source.is_none() && self.event_type.is_none()
                || happening.marks().is_some_and(|marks| self.fits_event(marks)))
    }

    fn fits_event(&self, marks: &EventMarks) -> bool {
        self.source.is_none_or(|source| marks.origin.source() == Some(source))
            && self.event_type.as_ref().is_none_or(|types| types.matches(marks.event_type.as_ref()))
    }
}
