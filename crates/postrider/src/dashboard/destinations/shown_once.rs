//! What an action on a destination has answered: it is shown this once and cannot be asked for again.

use crate::dashboard::clip::short;
use crate::dashboard::event::Timing;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A browser keeps 4 kB until they are shown.
const MESSAGE_BYTES: usize = 500;

#[derive(Default, Deserialize, Serialize)]
pub(in crate::dashboard) struct ShownOnce {
    pub(in crate::dashboard) secret: Option<String>,
    pub(in crate::dashboard) tried: Option<Tried>,
}

/// What a receiver answered to a test event.
#[derive(Deserialize, Serialize)]
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
        ShownOnce { secret, tried: tried.map(Tried::in_short) }
    }
}

impl Tried {
    fn in_short(self) -> Self {
        Tried { error_message: self.error_message.map(|message| short(&message, MESSAGE_BYTES)), ..self }
    }

    pub(in crate::dashboard) fn result(&self) -> String {
        match self.response_status {
            Some(status) => format!("responded {status}"),
            None => self.error_message.as_ref().unwrap_or(&self.outcome).clone(),
        }
    }
}
