//! A caller that remembers every answer it got, so that they can be searched afterwards.

use crate::rig::{Answer, Api};
use serde_json::Value;
use std::cell::RefCell;

pub(super) struct Witness {
    pub(super) api: Api,
    /// Each call with what was answered.
    seen: RefCell<Vec<(String, String)>>,
}

impl Witness {
    pub(super) fn new(api: Api) -> Self {
        Witness { api, seen: RefCell::default() }
    }

    pub(super) fn call(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let answer = self.api.call(method, path, headers, body);
        let text = format!("{:?}\n{}", answer.headers, String::from_utf8_lossy(&answer.body));
        self.seen.borrow_mut().push((format!("{method} {path}"), text));
        answer
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        self.call("GET", path, &[], b"")
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("POST", path, &[], body.to_string().as_bytes())
    }

    pub(super) fn patch(&self, path: &str, body: &Value) -> Answer {
        self.call("PATCH", path, &[], body.to_string().as_bytes())
    }

    /// The calls whose answers hold this text.
    pub(super) fn answers_with(&self, text: &str) -> Vec<String> {
        let seen = self.seen.borrow();
        seen.iter().filter(|(_, answer)| answer.contains(text)).map(|(call, _)| call.clone()).collect()
    }

    pub(super) fn count(&self) -> usize {
        self.seen.borrow().len()
    }
}
