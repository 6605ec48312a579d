//! Who changed what, as it is kept for whoever asks later.

use postrider_core::id::{AccountId, ApiKeyId, AuditId};
use postrider_core::time::Timestamp;

/// A change that somebody made. It holds no secret: whoever makes one leaves them out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// Its id.
    pub id: AuditId,
    /// Whose things were changed.
    pub account: AccountId,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub author: Author,
    /// By which call, such as `PATCH /v1/routes/{id}`.
    pub call: String,
    /// What kind of thing, such as `route`.
    pub noun: String,
    /// Which one; `None` when it were many.
    pub object: Option<String>,
    /// What it was before, as a JSON object; `None` when it was made.
    pub before: Option<String>,
    /// What it is since, as a JSON object; `None` when it was deleted.
    pub after: Option<String>,
}

/// Who made a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// How they came.
    pub way: Way,
    /// Their key; `None` for the gateway's own.
    pub key: Option<ApiKeyId>,
    /// The name that the key had.
    pub key_name: Option<String>,
}

/// How somebody came who made a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// With a key, to the API.
    Key,
    /// Signed in to the dashboard.
    Dashboard,
    /// By a link to the portal.
    Portal,
    /// Without a key, from the machine itself.
    Machine,
}

impl Way {
    /// All of them.
    pub const ALL: [Way; 4] = [Way::Key, Way::Dashboard, Way::Portal, Way::Machine];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Way::Key => "key",
            Way::Dashboard => "dashboard",
            Way::Portal => "portal",
            Way::Machine => "machine",
        }
    }

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|way| way.as_str() == text)
    }
}

/// Which records are asked for, newest first.
#[derive(Clone, Debug)]
pub struct AuditQuery {
    /// Of this account; of all when `None`.
    pub account: Option<AccountId>,
    /// Of such a thing.
    pub noun: Option<String>,
    /// Of this one.
    pub object: Option<String>,
    /// By this key.
    pub key: Option<ApiKeyId>,
    /// Then or later.
    pub since: Option<Timestamp>,
    /// Before that.
    pub until: Option<Timestamp>,
    /// Older than this record.
    pub after: Option<AuditId>,
    /// How many at most.
    pub limit: usize,
}

impl AuditQuery {
    /// Whether a record is asked for.
    pub fn matches(&self, record: &AuditRecord) -> bool {
        self.account.is_none_or(|account| record.account == account)
            && self.noun.as_ref().is_none_or(|noun| record.noun == *noun)
            && self.object.as_ref().is_none_or(|object| record.object.as_ref() == Some(object))
            && self.key.is_none_or(|key| record.author.key == Some(key))
            && self.since.is_none_or(|since| record.at >= since)
            && self.until.is_none_or(|until| record.at < until)
            && self.after.is_none_or(|after| record.id < after)
    }
}

/// Some records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditPage {
    /// The records, newest first.
    pub items: Vec<AuditRecord>,
    /// The last of them, when there are more.
    pub next: Option<AuditId>,
}

impl AuditPage {
    /// A page of at most `limit`, from one more than that if there is one more.
    pub fn cut(mut items: Vec<AuditRecord>, limit: usize) -> Self {
        let is_more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| is_more).map(|last| last.id);
        AuditPage { items, next }
    }
}
