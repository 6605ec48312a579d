//! What is counted of each destination.

/// Deliveries, and what went wrong with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Accepted and taken by the receiver.
    pub ok: usize,
    /// Accepted and given up on.
    pub dead: usize,
    /// Accepted, and neither taken nor given up on.
    pub lost: usize,
    /// Never answered, and arrived all the same.
    pub unknown: usize,
    /// Arrived again after it was taken, because a fault had cut that attempt off, or it came too late for its sender.
    pub duplicate: usize,
    /// Arrived again after it was taken, and no fault explains it.
    pub unexplained: usize,
    /// Refused, made up, doubled, or owed to somebody else.
    pub phantom: usize,
    /// Arrived with other bytes.
    pub changed: usize,
    /// Sent before what it had to wait for.
    pub misordered: usize,
    /// Sent while as many were in flight as may be, or while paused.
    pub over_concurrency: usize,
    /// Tried too often or too soon, or given up on too soon.
    pub undisciplined: usize,
    /// On record and not as the receiver saw it.
    pub forged: usize,
}

impl Tally {
    /// The columns of the table, in their order.
    pub fn columns(&self) -> [(&'static str, usize); 12] {
        [
            ("ok", self.ok),
            ("dead", self.dead),
            ("lost", self.lost),
            ("unknown", self.unknown),
            ("duplicate", self.duplicate),
            ("unexplained", self.unexplained),
            ("phantom", self.phantom),
            ("changed", self.changed),
            ("misordered", self.misordered),
            ("over-concurrency", self.over_concurrency),
            ("undisciplined", self.undisciplined),
            ("forged", self.forged),
        ]
    }

    pub(super) fn plus(self, other: &Tally) -> Tally {
        Tally {
            ok: self.ok + other.ok,
            dead: self.dead + other.dead,
            lost: self.lost + other.lost,
            unknown: self.unknown + other.unknown,
            duplicate: self.duplicate + other.duplicate,
            unexplained: self.unexplained + other.unexplained,
            phantom: self.phantom + other.phantom,
            changed: self.changed + other.changed,
            misordered: self.misordered + other.misordered,
            over_concurrency: self.over_concurrency + other.over_concurrency,
            undisciplined: self.undisciplined + other.undisciplined,
            forged: self.forged + other.forged,
        }
    }
}
