//! Events as they come in, each once: all of the last seconds are listed again and again, and those that are new are
//! told. What came while the gateway could not be reached is found afterwards in the same way.

use super::{items, text};
use crate::client::Client;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

/// As many as a gateway gives at once.
const PAGE: u32 = 200;
/// How far behind newer events one may still come into the list: nodes commit at their own pace, and their clocks
/// differ a little.
const LATE: Duration = Duration::from_secs(10);
/// Events that are remembered as seen.
const SEEN_MAX: usize = 100_000;
/// Of one look. More have come only after the gateway or its listener was away for long.
const FRESH_MAX: usize = 10_000;
const _: () = assert!(FRESH_MAX < SEEN_MAX, "what a look finds is remembered at the next");

type Parameter = (&'static str, String);

pub(super) struct Feed {
    /// Which events are meant.
    parameters: Vec<Parameter>,
    ids: HashSet<String>,
    order: VecDeque<String>,
    marks: Marks,
}

/// When the newest event was received, as looks of the last seconds have seen it; `None` where there was none yet. A look
/// goes back to the first.
#[derive(Default)]
struct Marks(VecDeque<(Instant, Option<String>)>);

impl Marks {
    fn note(&mut self, now: Instant, newest_received_at: Option<String>) {
        self.0.push_back((now, newest_received_at));
        while self.0.get(1).is_some_and(|(at, _)| now - *at >= LATE) {
            self.0.pop_front();
        }
    }

    /// What was received before is not new; `None` when everything may be.
    fn since(&self) -> Option<&str> {
        self.0.front()?.1.as_deref()
    }
}

impl Feed {
    /// Between two looks for new events.
    pub(super) const LOOK: Duration = Duration::from_millis(500);

    pub(super) fn new(parameters: Vec<Parameter>) -> Self {
        Feed { parameters, ids: HashSet::new(), order: VecDeque::new(), marks: Marks::default() }
    }

    /// So many of those that are there already, the oldest first.
    pub(super) fn first(&mut self, client: &Client, limit: u32) -> anyhow::Result<Vec<Value>> {
        self.mark(client)?;
        let page = page(client, self.parameters.clone(), limit, None)?;
        let mut fresh = self.unseen(items(&page["items"]));
        fresh.reverse();
        Ok(fresh)
    }

    /// What has come since, the oldest first.
    pub(super) fn next(&mut self, client: &Client) -> anyhow::Result<Vec<Value>> {
        self.mark(client)?;
        let (mut fresh, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let page = page(client, self.recent(), PAGE, cursor.as_deref());
            let page = page.inspect_err(|_| self.forget(&fresh))?;
            fresh.extend(self.unseen(items(&page["items"])));
            cursor = page["next_cursor"].as_str().map(str::to_owned);
            if cursor.is_none() || fresh.len() >= FRESH_MAX {
                break;
            }
        }
        if cursor.is_some() {
            eprintln!("more than {FRESH_MAX} events have come meanwhile; the oldest of them are left out");
        }
        fresh.reverse();
        Ok(fresh)
    }

    /// Whether this one, which was heard of elsewhere, is new; from now on it is seen.
    pub(super) fn is_new(&mut self, id: &str) -> bool {
        let is_new = self.ids.insert(id.to_owned());
        if is_new {
            self.order.push_back(id.to_owned());
        }
        while self.order.len() > SEEN_MAX {
            self.order.pop_front().map(|oldest| self.ids.remove(&oldest));
        }
        is_new
    }

    /// Keeps where the list ends now, of whatever kind the newest is: where nothing fits, there is nothing to go by.
    fn mark(&mut self, client: &Client) -> anyhow::Result<()> {
        let newest = page(client, Vec::new(), 1, None)?;
        let received_at = items(&newest["items"]).first().map(|event| text(&event["received_at"]).to_owned());
        self.marks.note(Instant::now(), received_at);
        Ok(())
    }

    /// Those that are meant, and late enough to be new.
    fn recent(&self) -> Vec<Parameter> {
        let Some(since) = self.marks.since() else { return self.parameters.clone() };
        let others = self.parameters.iter().filter(|(name, _)| *name != "since").cloned();
        others.chain([("since", since.to_owned())]).collect()
    }

    fn unseen(&mut self, listed: &[Value]) -> Vec<Value> {
        listed.iter().filter(|event| self.is_new(text(&event["id"]))).cloned().collect()
    }

    /// A look that broke off has shown nothing.
    fn forget(&mut self, fresh: &[Value]) {
        for event in fresh {
            self.ids.remove(text(&event["id"]));
        }
        self.order.retain(|id| self.ids.contains(id));
    }
}

fn page(
    client: &Client,
    mut parameters: Vec<Parameter>,
    limit: u32,
    cursor: Option<&str>,
) -> anyhow::Result<Value> {
    parameters.push(("limit", limit.to_string()));
    parameters.extend(cursor.map(|cursor| ("cursor", cursor.to_owned())));
    client.read("/v1/events", &parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_goes_back_to_where_the_list_ended_some_seconds_ago() {
        let (mut marks, began) = (Marks::default(), Instant::now());
        let mut since = |seconds, newest: Option<&str>| {
            marks.note(began + Duration::from_secs(seconds), newest.map(str::to_owned));
            marks.since().map(str::to_owned)
        };
        assert_eq!(since(0, None), None, "there is nothing yet");
        assert_eq!(
            since(1, Some("a")),
            None,
            "all that has come since is new, the first as well as the last"
        );
        assert_eq!(since(10, Some("b")), None, "one may still come late");
        assert_eq!(since(11, Some("b")), Some("a".to_owned()));
        assert_eq!(since(60, Some("c")), Some("b".to_owned()), "what came meanwhile is looked for");
    }
}
