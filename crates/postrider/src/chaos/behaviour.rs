//! How a request is treated: said by the first part of its path and by its query, so that a destination's URL is all
//! there is to set up.

use http::StatusCode;
use std::time::Duration;
use url::form_urlencoded;

/// Longer than any timeout that a destination may have (120 s).
const DELAY_MS_MAX: u64 = 300_000;
const HUGE_BYTES_MAX: u64 = 10 << 30;

/// What is done with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Answer(StatusCode),
    /// Never answers.
    Hang,
    /// Answers 200 and then one byte at a time, without end.
    Drip,
    /// Ends the connection with a reset instead of an answer.
    Reset,
    /// Answers what is no HTTP.
    Garbage,
    /// Answers 200 with so many bytes.
    Huge(u64),
    Redirect(String),
    /// By thirds 200, 500, and 200 after 6 s: waford's mix.
    Mix,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Behaviour {
    pub(super) act: Act,
    pub(super) delay: Duration,
    pub(super) retry_after: Option<String>,
    /// Of a hundred requests, so many are treated so; the others are answered 200 at once.
    pub(super) percent: u64,
    pub(super) limits: Limits,
}

/// Over these the answer is 429.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) max_in_flight: Option<u64>,
    /// So many are let through in any second, however many more come: one that is refused does not count.
    pub(super) per_second: Option<u64>,
}

impl Behaviour {
    /// Or the sentence that says which part of the URL is wrong.
    pub(super) fn of(path: &str, query: &str) -> Result<Behaviour, String> {
        let first = path.split('/').nth(1).unwrap_or_default();
        let mut behaviour = Behaviour::named(first);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            behaviour.set(&name, &value)?;
        }
        Ok(behaviour)
    }

    fn named(first: &str) -> Behaviour {
        let (act, delay_ms) = match first {
            "fail" => (Act::Answer(StatusCode::INTERNAL_SERVER_ERROR), 0),
            "slow" => (Act::Answer(StatusCode::OK), 1000),
            "throttle" => (Act::Answer(StatusCode::TOO_MANY_REQUESTS), 0),
            "hang" => (Act::Hang, 0),
            "drip" => (Act::Drip, 0),
            "reset" => (Act::Reset, 0),
            "garbage" => (Act::Garbage, 0),
            "huge" => (Act::Huge(1 << 30), 0),
            "redirect" => (Act::Redirect("/".to_owned()), 0),
            "mix" => (Act::Mix, 0),
            _ => (Act::Answer(StatusCode::OK), 0),
        };
        let retry_after = (first == "throttle").then(|| "1".to_owned());
        let delay = Duration::from_millis(delay_ms);
        Behaviour { act, delay, retry_after, percent: 100, limits: Limits::default() }
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = |least: u64, most: u64| {
            let number = value.parse().ok().filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| format!("{name} must be a whole number from {least} to {most}"))
        };
        match name {
            "status" => {
                let code = u16::try_from(number(200, 599)?).ok();
                let status = code.and_then(|code| StatusCode::from_u16(code).ok());
                self.act = Act::Answer(status.ok_or("status must be from 200 to 599")?);
            }
            "delay_ms" => self.delay = Duration::from_millis(number(0, DELAY_MS_MAX)?),
            "percent" => self.percent = number(0, 100)?,
            "bytes" => self.act = Act::Huge(number(0, HUGE_BYTES_MAX)?),
            "to" => self.act = Act::Redirect(value.to_owned()),
            // Anything: a gateway must bear what is no number of seconds too.
            "retry_after" => self.retry_after = Some(value.to_owned()),
            "max_in_flight" => self.limits.max_in_flight = Some(number(1, 1_000_000)?),
            "per_second" => self.limits.per_second = Some(number(1, 1_000_000)?),
            _ => {
                return Err(format!(
                    "{name:?} is not a parameter; allowed are status, delay_ms, percent, bytes, to, retry_after, \
                     max_in_flight, per_second"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_and_query_say_how_a_request_is_treated() {
        let check = |path: &str, query: &str, act: Act, delay_ms: u64| {
            let behaviour = Behaviour::of(path, query).expect("it is legal");
            assert_eq!(
                (behaviour.act, behaviour.delay),
                (act, Duration::from_millis(delay_ms)),
                "{path}?{query}"
            );
        };
        let answer = |code| Act::Answer(StatusCode::from_u16(code).expect("a status"));
        check("/", "", answer(200), 0);
        check("/billing", "status=503&delay_ms=20", answer(503), 20);
        check("/slow/billing", "", answer(200), 1000);
        check("/hang", "", Act::Hang, 0);
        check("/huge", "bytes=7", Act::Huge(7), 0);
        check("/redirect", "to=http%3A%2F%2Fa%2F", Act::Redirect("http://a/".to_owned()), 0);
        check("/mix/a", "", Act::Mix, 0);
    }

    #[test]
    fn a_wrong_part_of_the_url_is_named() {
        for (query, wanted) in [
            ("status=99", "status must be a whole number from 200 to 599"),
            ("percent=101", "percent must be a whole number from 0 to 100"),
            ("delay=1", "\"delay\" is not a parameter"),
            ("max_in_flight=0", "max_in_flight must be"),
        ] {
            let said = Behaviour::of("/a", query).expect_err(query);
            assert!(said.contains(wanted), "{said}");
        }
    }
}
