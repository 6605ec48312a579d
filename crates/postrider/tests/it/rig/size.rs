//! How large a test is: what a change is judged by, or more by a variable of the environment.

use std::time::Duration;

pub(crate) fn of(variable: &str, default: usize) -> usize {
    let wanted = std::env::var(variable).ok();
    let number =
        |text: String| text.parse().unwrap_or_else(|_| panic!("{variable} must be a number: {text:?}"));
    wanted.map_or(default, number)
}

/// How long so many things may take together.
pub(crate) fn patience(count: usize) -> Duration {
    Duration::from_secs(60) + Duration::from_millis(10) * u32::try_from(count).expect("it is no larger")
}
