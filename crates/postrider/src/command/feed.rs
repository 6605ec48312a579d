//! Events as they come in, each once: all of the last seconds are listed again and again, and those that are new are
//! told. What came while the gateway could not be reached is found afterwards in the same way.

use super::{items, text};
use crate::client::Client;
use postrider_core::time::Timestamp;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::time::Duration;

/// As many as a gateway gives at once.
const PAGE: u32 = 200;
/// How far behind newer events one may still come into the list: nodes commit at their own pace, and their clocks
/// differ a little. By the time of the gateway, so that nothing hangs on how long a look takes.
const LATE: Duration = Duration::from_secs(10);
/// Events that are remembered as seen.
const SEEN_MAX: usize = 100_000;

type Parameter = (&'static str, String);

pub(super) struct Feed {
    /// Which events are meant.
    parameters: Vec<Parameter>,
    ids: HashSet<String>,
    order: VecDeque<String>,
    marks: Marks,
    /// What a look has found and not told of.
    left: Left,
}

/// A list is given from its newest page on, and told of from its oldest. What is kept of the pages in between is where
/// they begin, so that an hour in which nobody looked takes as little memory as a second.
#[derive(Default)]
struct Left {
    parameters: Vec<Parameter>,
    newest: Vec<Value>,
    /// Of the older pages, the oldest last.
    cursors: Vec<String>,
}

/// When the newest event was received, at two moments; `None` where there was none yet.
#[derive(Clone, Copy, Default)]
struct Marks {
    /// At the beginning: what is older is not meant.
    first: Option<Timestamp>,
    /// At the last look.
    last: Option<Timestamp>,
}

impl Marks {
    /// What was received before is not new; `None` when everything may be.
    fn since(self) -> Option<Timestamp> {
        self.first.max(self.last.map(|last| last.before(LATE)))
    }
}

impl Feed {
    /// Between two looks for new events.
    pub(super) const LOOK: Duration = Duration::from_millis(500);

    pub(super) fn new(parameters: Vec<Parameter>) -> Self {
        Feed {
            parameters,
            ids: HashSet::new(),
            order: VecDeque::new(),
            marks: Marks::default(),
            left: Left::default(),
        }
    }

    /// So many of those that are there already, the oldest first.
    pub(super) fn first(&mut self, client: &Client, limit: u32) -> anyhow::Result<Vec<Value>> {
        let newest = newest_received_at(client)?;
        let page = page(client, &self.parameters, limit, None)?;
        self.marks = Marks { first: newest, last: newest };
        Ok(self.unseen(items(&page["items"])))
    }

    /// Tells of what has come since, the oldest first, a page at a time. What a look has left that broke off comes before.
    pub(super) fn look(
        &mut self,
        client: &Client,
        mut tell: impl FnMut(Vec<Value>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.tell_what_is_left(client, &mut tell)?;
        self.find(client)?;
        self.tell_what_is_left(client, &mut tell)
    }

    /// Whether a look broke off: older events are still to be told of.
    pub(super) fn is_behind(&self) -> bool {
        !self.left.newest.is_empty() || !self.left.cursors.is_empty()
    }

    /// Looks for all that may be new.
    fn find(&mut self, client: &Client) -> anyhow::Result<()> {
        let (last, parameters) = (newest_received_at(client)?, self.recent());
        let mut found = page(client, &parameters, PAGE, None)?;
        let newest = items(&found["items"]).to_vec();
        let mut cursors = Vec::new();
        while let Some(cursor) = found["next_cursor"].as_str().map(str::to_owned) {
            found = page(client, &parameters, PAGE, Some(&cursor))?;
            if items(&found["items"]).iter().any(|event| !self.ids.contains(text(&event["id"]))) {
                cursors.push(cursor);
            }
        }
        // Only now: a look that fails before is made again from where it began.
        self.marks.last = last;
        self.left = Left { parameters, newest, cursors };
        Ok(())
    }

    fn tell_what_is_left(
        &mut self,
        client: &Client,
        tell: &mut impl FnMut(Vec<Value>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        while let Some(cursor) = self.left.cursors.last() {
            let page = page(client, &self.left.parameters, PAGE, Some(cursor))?;
            self.left.cursors.pop();
            tell(self.unseen(items(&page["items"])))?;
        }
        let newest = std::mem::take(&mut self.left.newest);
        tell(self.unseen(&newest))
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

    /// Those that are meant, and late enough to be new.
    fn recent(&self) -> Vec<Parameter> {
        let Some(since) = self.marks.since() else { return self.parameters.clone() };
        let others = self.parameters.iter().filter(|(name, _)| *name != "since").cloned();
        others.chain([("since", since.to_string())]).collect()
    }

    /// Of a page as a list has it, the oldest first.
    fn unseen(&mut self, listed: &[Value]) -> Vec<Value> {
        listed.iter().rev().filter(|event| self.is_new(text(&event["id"]))).cloned().collect()
    }
}

/// Where the list ends now, of whatever kind the newest is: where nothing fits, there is nothing to go by.
fn newest_received_at(client: &Client) -> anyhow::Result<Option<Timestamp>> {
    let newest = page(client, &[], 1, None)?;
    let newest = items(&newest["items"]).first();
    Ok(newest.and_then(|event| Timestamp::parse_rfc3339(text(&event["received_at"]))))
}

fn page(
    client: &Client,
    parameters: &[Parameter],
    limit: u32,
    cursor: Option<&str>,
) -> anyhow::Result<Value> {
    let mut parameters = parameters.to_vec();
    parameters.push(("limit", limit.to_string()));
    parameters.extend(cursor.map(|cursor| ("cursor", cursor.to_owned())));
    client.read("/v1/events", &parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_goes_back_some_seconds_and_not_behind_the_beginning() {
        let at = |seconds: u64| Some(Timestamp::from_unix_ms(seconds * 1000));
        let check = |first, last, since| assert_eq!(Marks { first, last }.since(), since);
        check(None, None, None);
        // All that has come since is new, the first as well as the last.
        check(None, at(100), at(90));
        check(at(100), at(100), at(100));
        check(at(100), at(105), at(100));
        check(at(100), at(160), at(150));
        // What was kept no longer at the last look says nothing of how far others have come.
        check(at(100), None, at(100));
    }
}
