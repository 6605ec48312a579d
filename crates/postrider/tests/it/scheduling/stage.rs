//! A gateway, a sink and a source, with destinations that each get the events of their own type.

use crate::rig::{Answer, Api, Gateway, Sink, Site, wait_until};
use serde_json::{Value, json};

pub(crate) struct Stage {
    pub(crate) sink: Sink,
    pub(crate) site: Site,
    pub(crate) api: Api,
    /// Where events are posted to.
    pub(crate) ingest: String,
    gateway: Option<Gateway>,
}

/// Tries again soon, and does not give up before the test does.
pub(crate) fn patient() -> Value {
    json!({ "delays_seconds": [0.05], "max_attempts": 100, "jitter": "none" })
}

/// A circuit that never opens by itself.
pub(crate) fn no_circuit() -> Value {
    json!({ "threshold": 10_000 })
}

impl Stage {
    pub(crate) fn new(args: &[&str]) -> Self {
        Stage::at(Site::new().with(args))
    }

    pub(crate) fn at(site: Site) -> Self {
        let sink = Sink::start();
        let gateway = site.start();
        let api = gateway.api();
        let (_, ingest) = api.source();
        Stage { sink, site, api, ingest, gateway: Some(gateway) }
    }

    /// A destination at `/{name}` for events of the type `name`; gives its id. `priority` is its route's.
    pub(crate) fn destination(&self, name: &str, priority: u8, settings: &Value) -> String {
        self.destination_of(&self.api, name, priority, settings)
    }

    /// The same for another account.
    pub(crate) fn destination_of(&self, api: &Api, name: &str, priority: u8, settings: &Value) -> String {
        let mut body = json!({ "name": name, "url": self.sink.url(&format!("/{name}")) });
        for (field, value) in settings.as_object().into_iter().flatten() {
            body[field] = value.clone();
        }
        let id = api.make("/v1/destinations", &body);
        let route = json!({ "destination_id": id, "event_type_pattern": name, "priority": priority });
        api.make("/v1/routes", &route);
        id
    }

    /// Sends an event of this type; gives its id.
    pub(crate) fn send(&self, name: &str, body: &Value) -> String {
        self.api.send(&self.ingest, &[("x-event-type", name)], body.to_string().as_bytes())
    }

    /// Sends so many; gives their ids.
    pub(crate) fn send_many(&self, name: &str, count: usize) -> Vec<String> {
        (0..count).map(|number| self.send(name, &json!({ "number": number }))).collect()
    }

    /// Posts an event that may be refused.
    pub(crate) fn offer(&self, name: &str, body: &[u8]) -> Answer {
        self.api.call("POST", &self.ingest, &[("x-event-type", name)], body)
    }

    pub(crate) fn pause(&self, id: &str) -> Value {
        self.api.post(&format!("/v1/destinations/{id}/pause"), &json!({})).data(200)
    }

    pub(crate) fn resume(&self, id: &str) -> Value {
        self.api.post(&format!("/v1/destinations/{id}/resume"), &json!({})).data(200)
    }

    pub(crate) fn order_circuit(&self, id: &str, state: &str) -> Value {
        self.api.post(&format!("/v1/destinations/{id}/circuit"), &json!({ "state": state })).data(200)
    }

    pub(crate) fn change(&self, id: &str, settings: &Value) -> Value {
        self.api.patch(&format!("/v1/destinations/{id}"), settings).data(200)
    }

    pub(crate) fn view(&self, id: &str) -> Value {
        self.api.get(&format!("/v1/destinations/{id}")).data(200)
    }

    /// Waits until a destination shows this value of a field, and gives all of it.
    pub(crate) fn view_once(&self, id: &str, field: &str, value: &Value) -> Value {
        let mut last = Value::Null;
        let look = || {
            last = self.view(id);
            (last[field] == *value).then(|| last.clone())
        };
        wait_until(&format!("{field} of {id} is {value}"), look)
    }

    pub(crate) fn all_delivered(&self, events: &[String]) {
        events.iter().for_each(|id| drop(self.api.event_once(id, "delivered")));
    }

    /// The attempts that arrived on a path by now, by the numbers in their bodies.
    pub(crate) fn numbers_at(&self, name: &str) -> Vec<u64> {
        let number = |body: &[u8]| {
            serde_json::from_slice::<Value>(body).ok().and_then(|body| body["number"].as_u64()).unwrap()
        };
        let arrivals = self.sink.arrivals_at(&format!("/{name}"));
        arrivals.iter().map(|arrival| number(&arrival.body)).collect()
    }

    /// Another destination is served meanwhile: what had been due before it has had its turn.
    pub(crate) fn pass_a_turn(&self) {
        let name = format!("turn{}", self.sink.count());
        self.destination(&name, 4, &json!({}));
        let event = self.send(&name, &json!({}));
        self.api.event_once(&event, "delivered");
    }

    /// The gateway that runs.
    pub(crate) fn gateway(&self) -> &Gateway {
        self.gateway.as_ref().expect("it runs but for a restart")
    }

    /// Stops in order and starts again.
    pub(crate) fn restart(&mut self) {
        let stopped = self.gateway.take().unwrap().stop();
        assert_eq!(stopped.code, Some(0), "{}", stopped.err);
        self.gateway = Some(self.site.start());
    }

    /// kill -9, and starts again.
    pub(crate) fn kill(&mut self) {
        self.gateway.take().unwrap().kill();
        self.gateway = Some(self.site.start());
    }
}
