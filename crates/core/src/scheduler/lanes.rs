//! Which lane of a destination has its turn: fresh before retry before replay, each with a share that it gets
//! whatever the others have, so that none starves another.

use crate::delivery::Lane;

/// Of so many sends while a retry waits, one is a retry.
const RETRY_SHARE: u8 = 4;
/// Of so many sends while a replay waits, one is a replay.
const REPLAY_SHARE: u8 = 8;

/// How often the later lanes were passed over since their last turn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LaneTurns {
    retry_passed: u8,
    replay_passed: u8,
}

/// What a lane counts as when lanes take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Fresh,
    Retry,
    Replay,
}

impl Rank {
    pub(super) const fn of(lane: Lane) -> Self {
        match lane {
            Lane::Fresh | Lane::Ordered(_) => Rank::Fresh,
            Lane::Retry => Rank::Retry,
            Lane::Replay => Rank::Replay,
        }
    }
}

impl LaneTurns {
    /// Chooses among the lanes that have something due, and notes who was passed over.
    pub(super) fn choose(&mut self, due: impl Fn(Rank) -> bool) -> Option<Rank> {
        let (retry_due, replay_due) = (due(Rank::Retry), due(Rank::Replay));
        let chosen = if retry_due && self.retry_passed + 1 >= RETRY_SHARE {
            Rank::Retry
        } else if replay_due && self.replay_passed + 1 >= REPLAY_SHARE {
            Rank::Replay
        } else {
            [Rank::Fresh, Rank::Retry, Rank::Replay].into_iter().find(|rank| due(*rank))?
        };
        let passed = |waits: bool, before: u8, rank| {
            if waits && chosen != rank { before.saturating_add(1) } else { 0 }
        };
        self.retry_passed = passed(retry_due, self.retry_passed, Rank::Retry);
        self.replay_passed = passed(replay_due, self.replay_passed, Rank::Replay);
        Some(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns while these lanes always have something due; gives how many each got.
    fn check(waiting: &[Rank], expected: [usize; 3]) {
        let mut turns = LaneTurns::default();
        let chosen: Vec<Rank> =
            (0..80).filter_map(|_| turns.choose(|rank| waiting.contains(&rank))).collect();
        let count = |rank| chosen.iter().filter(|found| **found == rank).count();
        assert_eq!([count(Rank::Fresh), count(Rank::Retry), count(Rank::Replay)], expected, "{waiting:?}");
    }

    #[test]
    fn every_lane_gets_its_share() {
        use Rank::{Fresh, Replay, Retry};
        check(&[Fresh], [80, 0, 0]);
        check(&[Fresh, Retry], [60, 20, 0]);
        check(&[Fresh, Replay], [70, 0, 10]);
        check(&[Retry, Replay], [0, 70, 10]);
        // When both are due their turn, the retry has it first.
        check(&[Fresh, Retry, Replay], [51, 20, 9]);
        check(&[Replay], [0, 0, 80]);
    }
}
