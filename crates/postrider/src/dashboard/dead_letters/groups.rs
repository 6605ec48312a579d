//! Dead letters by destination and cause. The newest are looked at: all of them may be millions, and are counted only when
//! somebody wants to do something with them.

use super::DeadLetter;
use crate::dashboard::answer::Refused;
use crate::dashboard::inside::{Inside, Listed, path};
use crate::dashboard::session::Session;

/// Dead letters that are looked at, the newest.
const LOOKED_AT: &str = "200";
const GROUPS_MAX: usize = 10;

/// What the newest are of.
pub(super) struct Groups {
    pub(super) items: Vec<Group>,
    /// There are older ones, which were not looked at.
    pub(super) is_cut: bool,
}

/// Of one destination and for one reason.
pub(super) struct Group {
    pub(super) destination_id: String,
    pub(super) destination: String,
    pub(super) reason: String,
    /// Of those looked at.
    pub(super) count: u64,
    /// Of the newest.
    pub(super) last_error: Option<String>,
    pub(super) last_died_at: String,
}

impl Group {
    /// The list of these alone.
    pub(super) fn page(&self) -> String {
        path(
            "/dead-letters",
            &[("destination_id", Some(&self.destination_id)), ("reason", Some(&self.reason))],
        )
    }
}

pub(super) async fn of(api: &Inside, session: &Session) -> Result<Groups, Refused> {
    let newest = path("/v1/dead-letters", &[("limit", Some(LOOKED_AT))]);
    let newest: Listed<DeadLetter> = api.get(session, &newest).await?;
    let mut items = gathered(newest.items);
    items.truncate(GROUPS_MAX);
    Ok(Groups { items, is_cut: newest.next_cursor.is_some() })
}

/// In the order of their newest.
fn gathered(letters: Vec<DeadLetter>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for letter in letters {
        let same = |group: &&mut Group| {
            group.destination_id == letter.destination_id && group.reason == letter.reason
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.count += 1,
            None => groups.push(Group {
                destination: letter.destination().to_owned(),
                destination_id: letter.destination_id,
                reason: letter.reason,
                count: 1,
                last_error: letter.last_error,
                last_died_at: letter.died_at,
            }),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn those_of_one_destination_and_cause_stand_together() {
        let letter = |destination: &str, reason: &str, error: &str| {
            let letter = json!({
                "delivery_id": "dlv_1", "event_id": "evt_1", "destination_id": destination, "attempts_count": 1,
                "reason": reason, "last_error": error, "died_at": "",
            });
            serde_json::from_value(letter).unwrap()
        };
        let groups = gathered(vec![
            letter("b", "attempts", "new"),
            letter("a", "attempts", ""),
            letter("b", "attempts", "old"),
            letter("b", "expired", ""),
        ]);
        let seen: Vec<_> = groups
            .iter()
            .map(|group| (group.destination.as_str(), group.reason.as_str(), group.count))
            .collect();
        assert_eq!(seen, [("b", "attempts", 2), ("a", "attempts", 1), ("b", "expired", 1)]);
        assert_eq!(groups[0].last_error.as_deref(), Some("new"));
    }
}
