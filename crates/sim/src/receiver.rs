//! A receiver: healthy, slow, failing in several ways, or hanging.

use crate::random::Random;
use postrider_core::outcome::Outcome;
use std::time::Duration;

/// How a receiver is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Healthy,
    Slow,
    Failing,
    Flapping,
    Limiting,
    Overloaded,
    Refusing,
    Hanging,
}

/// What comes of a request, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) after: Duration,
    pub(crate) outcome: Outcome,
    pub(crate) status: Option<u16>,
    pub(crate) retry_after: Option<Duration>,
}

impl Health {
    const ALL: [Health; 8] = [
        Health::Healthy,
        Health::Slow,
        Health::Failing,
        Health::Flapping,
        Health::Limiting,
        Health::Overloaded,
        Health::Refusing,
        Health::Hanging,
    ];

    pub(crate) fn any(random: &mut Random) -> Self {
        // What hangs is in flight for long, and much can happen meanwhile.
        if random.one_in(4) { Health::Hanging } else { random.pick(&Self::ALL).unwrap_or(Health::Healthy) }
    }

    pub(crate) fn answer(self, timeout: Duration, random: &mut Random) -> Answer {
        let after = random.ms(1, 50);
        match self {
            Health::Healthy => Answer::status(after, 200),
            Health::Slow => Answer::status(random.ms(100, 900), 204),
            Health::Failing => Answer::status(after, if random.one_in(40) { 410 } else { 503 }),
            Health::Flapping => Answer::status(after, if random.one_in(2) { 200 } else { 500 }),
            Health::Limiting => {
                let retry_after = random.one_in(2).then(|| Duration::from_secs(random.between(0, 120)));
                Answer { retry_after, ..Answer::status(after, 429) }
            }
            // Now and then for longer than a whole destination is held.
            Health::Overloaded => {
                let most = if random.one_in(10) { 20_000 } else { 30 };
                let retry_after = random.one_in(3).then(|| Duration::from_secs(random.between(0, most)));
                Answer { retry_after, ..Answer::status(after, 503) }
            }
            Health::Refusing => {
                Answer { after, outcome: Outcome::NetworkError, status: None, retry_after: None }
            }
            Health::Hanging => {
                Answer { after: timeout, outcome: Outcome::Timeout, status: None, retry_after: None }
            }
        }
    }
}

impl Answer {
    fn status(after: Duration, status: u16) -> Self {
        Answer { after, outcome: Outcome::from_status(status), status: Some(status), retry_after: None }
    }
}
