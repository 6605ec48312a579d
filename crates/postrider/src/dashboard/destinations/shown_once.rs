//! What an action on a destination has answered: it is shown this once and cannot be asked for again.

use crate::dashboard::event::Timing;
use serde::Deserialize;
use serde_json::Value;

#[derive(Default)]
pub(in crate::dashboard) struct ShownOnce {
    pub(in crate::dashboard) secret: Option<String>,
    pub(in crate::dashboard) tried: Option<Tried>,
}

/// What a receiver answered to a test event.
#[derive(Deserialize)]
pub(in crate::dashboard) struct Tried {
    outcome: String,
    pub(in crate::dashboard) timing: Timing,
    response_status: Option<u16>,
    error_message: Option<String>,
}

impl ShownOnce {
    pub(in crate::dashboard) fn of(answer: &Value) -> Self {
        let secret = answer["signing_secret"].as_str().map(str::to_owned);
        let tried = if secret.is_none() { Tried::deserialize(answer).ok() } else { None };
        ShownOnce { secret, tried }
    }
}

impl Tried {
    pub(in crate::dashboard) fn result(&self) -> String {
        match self.response_status {
            Some(status) => format!("answered {status}"),
            None => self.error_message.as_ref().unwrap_or(&self.outcome).clone(),
        }
    }
}
