//! Events as they come in, each once: page by page from the newest back to what was seen already. What came while the
//! gateway could not be reached is found afterwards in the same way.

use super::{items, text};
use crate::client::Client;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::time::Duration;

/// As many as a gateway gives at once.
const PAGE: u32 = 200;
/// Events that are remembered as seen. A gateway of many nodes may list one a little behind newer ones.
const SEEN_MAX: usize = 20_000;

pub(super) struct Feed {
    /// Which events are meant.
    parameters: Vec<(&'static str, String)>,
    ids: HashSet<String>,
    order: VecDeque<String>,
}

impl Feed {
    /// Between two looks for new events.
    pub(super) const LOOK: Duration = Duration::from_millis(500);

    pub(super) fn new(parameters: Vec<(&'static str, String)>) -> Self {
        Feed { parameters, ids: HashSet::new(), order: VecDeque::new() }
    }

    /// So many of those that are there already, the oldest first.
    pub(super) fn first(&mut self, client: &Client, limit: u32) -> anyhow::Result<Vec<Value>> {
        let page = self.page(client, limit, None)?;
        let mut fresh = self.unseen(items(&page["items"]));
        fresh.reverse();
        Ok(fresh)
    }

    /// What has come since, the oldest first.
    pub(super) fn next(&mut self, client: &Client) -> anyhow::Result<Vec<Value>> {
        let (mut fresh, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let page = self.page(client, PAGE, cursor.as_deref());
            let page = page.inspect_err(|_| self.forget(&fresh))?;
            let listed = items(&page["items"]);
            let unseen = self.unseen(listed);
            let is_all_new = unseen.len() == listed.len() && !listed.is_empty();
            fresh.extend(unseen);
            cursor = page["next_cursor"].as_str().map(str::to_owned);
            if !is_all_new || cursor.is_none() || fresh.len() >= SEEN_MAX {
                fresh.reverse();
                return Ok(fresh);
            }
        }
    }

    fn page(&self, client: &Client, limit: u32, cursor: Option<&str>) -> anyhow::Result<Value> {
        let mut parameters = self.parameters.clone();
        parameters.push(("limit", limit.to_string()));
        parameters.extend(cursor.map(|cursor| ("cursor", cursor.to_owned())));
        client.read("/v1/events", &parameters)
    }

    fn unseen(&mut self, listed: &[Value]) -> Vec<Value> {
        let fresh = listed.iter().filter(|event| self.note(text(&event["id"]))).cloned().collect();
        while self.order.len() > SEEN_MAX {
            self.order.pop_front().map(|oldest| self.ids.remove(&oldest));
        }
        fresh
    }

    fn note(&mut self, id: &str) -> bool {
        let is_new = self.ids.insert(id.to_owned());
        if is_new {
            self.order.push_back(id.to_owned());
        }
        is_new
    }

    /// A look that broke off has shown nothing.
    fn forget(&mut self, fresh: &[Value]) {
        for event in fresh {
            self.ids.remove(text(&event["id"]));
        }
        self.order.retain(|id| self.ids.contains(id));
    }
}
