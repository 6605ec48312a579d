//! The API for whoever holds a key: one call a connection, and short ways to set up what tests need.

use super::answer::Answer;
use super::client::{Client, request};
use super::wait_until;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};

#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) address: SocketAddr,
    /// Sent as a bearer token unless empty.
    pub(crate) key: String,
}

impl Api {
    pub(crate) fn with_key(&self, key: &str) -> Self {
        Api { address: self.address, key: key.to_owned() }
    }

    /// A call with headers beside the key and a body that need not be JSON.
    pub(crate) fn call(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let bearer = format!("Bearer {}", self.key);
        let mut all = headers.to_vec();
        if !self.key.is_empty() {
            all.push(("authorization", &bearer));
        }
        self.raw(&request(method, path, &all, body))
    }

    /// Bytes as they are, on a connection of their own.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let answer = Client::connect(self.address).and_then(|mut client| client.exchange(bytes));
        let first_line = || String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().to_owned();
        answer.unwrap_or_else(|error| panic!("no answer to {:?}: {error}", first_line()))
    }

    /// The same from another address of this machine: of those that begin with 127.77 the one with this number.
    pub(crate) fn raw_from(&self, number: u16, bytes: &[u8]) -> Answer {
        let [high, low] = number.to_be_bytes();
        let client = Client::connect_from(Ipv4Addr::new(127, 77, high, low), self.address);
        client.and_then(|mut client| client.exchange(bytes)).expect("it answers on every address of loopback")
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.call("GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("POST", path, &[], body.to_string().as_bytes())
    }

    pub(crate) fn patch(&self, path: &str, body: &Value) -> Answer {
        self.call("PATCH", path, &[], body.to_string().as_bytes())
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.call("DELETE", path, &[], b"")
    }

    /// Makes an object and gives its id.
    pub(crate) fn make(&self, path: &str, body: &Value) -> String {
        text(&self.post(path, body).data(201)["id"])
    }

    /// A source without further checks; gives its id and the path to post events to.
    pub(crate) fn source(&self) -> (String, String) {
        let source = self.post("/v1/sources", &json!({ "name": "shop" })).data(201);
        (text(&source["id"]), format!("/ingest/{}", text(&source["path_token"])))
    }

    /// A destination that gets every event of the account; gives its id. `settings` go over the defaults.
    pub(crate) fn destination(&self, url: &str, settings: &Value) -> String {
        let mut body = json!({ "name": "receiver", "url": url });
        for (field, value) in settings.as_object().into_iter().flatten() {
            body[field] = value.clone();
        }
        let id = self.make("/v1/destinations", &body);
        self.make("/v1/routes", &json!({ "destination_id": id }));
        id
    }

    /// Posts an event that must be accepted; gives its id.
    pub(crate) fn send(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> String {
        text(&self.call("POST", path, headers, body).data(202)["id"])
    }

    /// An event with its attempts.
    pub(crate) fn event(&self, id: &str) -> Value {
        self.get(&format!("/v1/events/{id}")).data(200)
    }

    /// Waits until an event has come to this status, and gives it with its attempts.
    pub(crate) fn event_once(&self, id: &str, status: &str) -> Value {
        let mut last = Value::Null;
        let look = || {
            last = self.event(id);
            (last["event"]["status"] == status).then(|| last.clone())
        };
        wait_until(&format!("{id} is {status}"), look)
    }
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}
