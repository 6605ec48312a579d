//! Calls to the gateway, made beside the keys: one that hangs must not take the terminal with it.

use super::look;
use crate::client::Client;
use serde_json::Value;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

/// Of no answer it is said after so long.
const SAID_AFTER: Duration = Duration::from_secs(2);

pub(super) enum Call {
    Look,
    Tell { path: String, body: Value },
}

pub(super) enum Answer {
    Looked(anyhow::Result<Value>),
    Told(anyhow::Result<Value>),
}

/// Makes one call after the other.
pub(super) struct Caller {
    calls: Sender<Call>,
    answers: Receiver<Answer>,
    /// Calls without their answer, and since when that is so.
    open: usize,
    since: Instant,
}

impl Caller {
    /// The thread is left behind where a call still hangs at the end: the process ends with it.
    pub(super) fn start(client: Client) -> std::io::Result<Self> {
        let (calls, asked) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        std::thread::Builder::new().name("calls".to_owned()).spawn(move || {
            for call in asked {
                let answered = match call {
                    Call::Look => Answer::Looked(look(&client)),
                    Call::Tell { path, body } => {
                        Answer::Told(client.post(&path, &body).and_then(|told| told.data()))
                    }
                };
                if answer.send(answered).is_err() {
                    return;
                }
            }
        })?;
        Ok(Caller { calls, answers, open: 0, since: Instant::now() })
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open == 0
    }

    pub(super) fn call(&mut self, call: Call) {
        if self.is_idle() {
            self.since = Instant::now();
        }
        if self.calls.send(call).is_ok() {
            self.open += 1;
        }
    }

    /// What was answered by now.
    pub(super) fn answer(&mut self) -> Option<Answer> {
        let answer = self.answers.try_recv().ok()?;
        self.open = self.open.saturating_sub(1);
        self.since = Instant::now();
        Some(answer)
    }

    /// A sentence, where an answer is missing for long.
    pub(super) fn silence(&self) -> Option<String> {
        let silent = self.since.elapsed();
        (!self.is_idle() && silent >= SAID_AFTER)
            .then(|| format!("no response from the gateway for {} s", silent.as_secs()))
    }
}
