//! How the receiver treats a request, said by its path, so that a destination's URL is all there is to set up.
//!
//! | path | answer |
//! |---|---|
//! | `/hang…` | never |
//! | `/fail…` | 500 |
//! | `/status/CODE/…` | that code, 300 to 599 |
//! | `/delay/MS/…` | 200 after so long |
//! | `/chaos/MS/…` | by thirds 200, 500, and 200 after so long |
//! | `/failing/MS/…` | after so long 500 during an outage (`POST /outage`), and 200 since its end (`POST /recovery`) |
//! | `/failing-until/UNIX_MS/…` | 500 before that moment, then 200 |
//! | any other | 200 |

use super::chaos::Third;
use hyper::StatusCode;
use std::time::Duration;

/// Longer than any timeout that a destination may have (120 s).
const DELAY_MS_MAX: u64 = 300_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    Fine,
    Hang,
    Status(StatusCode),
    Delay(Duration),
    Chaos { stall: Duration },
    Failing { after: Duration },
    FailingUntil { unix_ms: u64 },
}

/// What one request gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    Answer {
        after: Duration,
        status: StatusCode,
    },
    /// An answer that is meant to come when the sender has given up.
    Late(Duration),
    Never,
}

/// What is going on when a request comes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances {
    pub(crate) unix_ms: u64,
    pub(crate) failing: bool,
    pub(crate) third: Third,
}

impl Behaviour {
    /// `None` where the path begins like one of the table and does not go on like it.
    pub(crate) fn of(path: &str) -> Option<Behaviour> {
        let mut segments = path.split('/').skip(1);
        let (name, argument) = (segments.next().unwrap_or(""), segments.next());
        let number = || argument.and_then(|text| text.parse::<u64>().ok());
        let delay = || number().filter(|ms| *ms <= DELAY_MS_MAX).map(Duration::from_millis);
        Some(match name {
            "status" => Behaviour::Status(failure(number()?)?),
            "delay" => Behaviour::Delay(delay()?),
            "chaos" => Behaviour::Chaos { stall: delay()? },
            "failing" => Behaviour::Failing { after: delay()? },
            "failing-until" => Behaviour::FailingUntil { unix_ms: number()? },
            _ if name.starts_with("hang") => Behaviour::Hang,
            _ if name.starts_with("fail") => Behaviour::Status(StatusCode::INTERNAL_SERVER_ERROR),
            _ => Behaviour::Fine,
        })
    }

    pub(crate) fn reply(self, at: Circumstances) -> Reply {
        match self {
            Behaviour::Fine => Reply::now(StatusCode::OK),
            Behaviour::Hang => Reply::Never,
            Behaviour::Status(status) => Reply::now(status),
            Behaviour::Delay(after) => Reply::Answer { after, status: StatusCode::OK },
            Behaviour::Chaos { stall } => match at.third {
                Third::Fine => Reply::now(StatusCode::OK),
                Third::Failing => Reply::now(StatusCode::INTERNAL_SERVER_ERROR),
                Third::Late => Reply::Late(stall),
            },
            Behaviour::Failing { after } if at.failing => {
                Reply::Answer { after, status: StatusCode::INTERNAL_SERVER_ERROR }
            }
            Behaviour::FailingUntil { unix_ms } if at.unix_ms < unix_ms => {
                Reply::now(StatusCode::INTERNAL_SERVER_ERROR)
            }
            Behaviour::Failing { after } => Reply::Answer { after, status: StatusCode::OK },
            Behaviour::FailingUntil { .. } => Reply::now(StatusCode::OK),
        }
    }
}

impl Reply {
    fn now(status: StatusCode) -> Reply {
        Reply::Answer { after: Duration::ZERO, status }
    }
}

/// A status that is no success: one that is has a path of its own.
fn failure(code: u64) -> Option<StatusCode> {
    let code = u16::try_from(code).ok().filter(|code| (300..=599).contains(code))?;
    StatusCode::from_u16(code).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Circumstances = Circumstances { unix_ms: 1000, failing: false, third: Third::Fine };

    fn check(path: &str, at: Circumstances, expected: Reply) {
        let behaviour = Behaviour::of(path).expect("a path of the table");
        assert_eq!(behaviour.reply(at), expected, "{path} {at:?}");
    }

    #[test]
    fn the_path_says_how_a_request_is_answered() {
        let (fine, error) = (StatusCode::OK, StatusCode::INTERNAL_SERVER_ERROR);
        let after = |ms, status| Reply::Answer { after: Duration::from_millis(ms), status };
        check("/", QUIET, Reply::now(fine));
        check("/hook/a", QUIET, Reply::now(fine));
        check("/hang", QUIET, Reply::Never);
        check("/hanging/a", QUIET, Reply::Never);
        check("/fail/a", QUIET, Reply::now(error));
        check("/status/429/a", QUIET, Reply::now(StatusCode::TOO_MANY_REQUESTS));
        check("/delay/20/a", QUIET, after(20, fine));
        check("/failing/5/a", QUIET, after(5, fine));
        check("/failing/5/a", Circumstances { failing: true, ..QUIET }, after(5, error));
        check("/failing-until/1000/a", QUIET, Reply::now(fine));
        check("/failing-until/1001/a", QUIET, Reply::now(error));
    }

    #[test]
    fn chaos_answers_by_its_third() {
        let third = |third| Circumstances { third, ..QUIET };
        check("/chaos/6000/a", third(Third::Fine), Reply::now(StatusCode::OK));
        check("/chaos/6000/a", third(Third::Failing), Reply::now(StatusCode::INTERNAL_SERVER_ERROR));
        check("/chaos/6000/a", third(Third::Late), Reply::Late(Duration::from_secs(6)));
    }

    #[test]
    fn a_path_that_is_cut_short_or_out_of_range_is_none_of_the_table() {
        for path in ["/status/200/a", "/status/600", "/status/", "/delay/x/a", "/delay/300001", "/chaos"] {
            assert_eq!(Behaviour::of(path), None, "{path}");
        }
    }
}
