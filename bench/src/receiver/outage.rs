//! The outage of the `/failing/…` paths: begun and ended by a control request.

/// The highest threshold that a circuit can have is 10,000 failures in a row. One answer of so many is a success
/// in an outage too, so that a circuit meant to stay out of a scenario does stay closed.
const SUCCESS_EVERY: u64 = 4096;

/// A receiver starts, and starts again, in good order.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    down: bool,
    answers: u64,
}

impl Outage {
    pub(crate) fn begin(&mut self) {
        *self = Outage { down: true, answers: 0 };
    }

    pub(crate) fn end(&mut self) {
        self.down = false;
    }

    /// Whether the next request fails.
    pub(crate) fn strikes(&mut self) -> bool {
        self.answers += 1;
        self.down && !self.answers.is_multiple_of(SUCCESS_EVERY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_lasts_from_its_beginning_to_its_end_with_a_success_now_and_then() {
        let mut outage = Outage::default();
        assert!(!outage.strikes());
        outage.begin();
        let failures = (0..SUCCESS_EVERY * 2).filter(|_| outage.strikes()).count();
        assert_eq!(failures, usize::try_from(SUCCESS_EVERY * 2 - 2).unwrap());
        outage.end();
        assert!(!outage.strikes());
    }
}
