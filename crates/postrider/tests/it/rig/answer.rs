//! What the gateway answered, and the envelope that every answer of its API comes in.

use super::wire::{Headers, Message};
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Headers,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn of(message: Message) -> Self {
        let status = message.first_line.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.unwrap_or_else(|| panic!("not an answer: {:?}", message.first_line));
        Answer { status, headers: message.headers, body: message.body }
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.headers.get("content-type"), Some("application/json"), "{self}");
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {self}"))
    }

    /// What a success with this status holds: `data` and nothing else.
    pub(crate) fn data(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self}");
        let mut json = self.json();
        assert_eq!(json.as_object().map(|object| object.len()), Some(1), "{self}");
        json["data"].take()
    }

    /// A success that says nothing.
    pub(crate) fn nothing(&self) {
        assert_eq!((self.status, self.body.len()), (204, 0), "{self}");
    }

    /// The sentence of a refusal with this status.
    pub(crate) fn refusal(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{self}");
        self.sentence().unwrap_or_else(|fault| panic!("{fault}: {self}"))
    }

    /// The sentence of a refusal, or what is wrong with how it was refused.
    pub(crate) fn sentence(&self) -> Result<String, &'static str> {
        if self.headers.get("content-type") != Some("application/json") {
            return Err("not JSON");
        }
        let json: Value = serde_json::from_slice(&self.body).map_err(|_| "not JSON")?;
        let sentence = json["error"].as_str().ok_or("no sentence")?;
        if !json["code"].is_string() || !json["data"].is_null() {
            return Err("not the envelope of a refusal");
        }
        if !sentence.ends_with('.') || sentence.contains('\n') {
            return Err("not one sentence");
        }
        Ok(sentence.to_owned())
    }

    /// The stable word of a refusal with this status.
    pub(crate) fn code(&self, status: u16) -> String {
        self.refusal(status);
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let body = String::from_utf8_lossy(&self.body);
        write!(f, "{} {}", self.status, body.chars().take(2000).collect::<String>())
    }
}
