//! Dead letters by destination and cause: what the newest are of, and how many there are of each.

use super::DeadLetter;
use crate::dashboard::answer::Refused;
use crate::dashboard::inside::{Inside, Listed, path};
use crate::dashboard::session::Session;
use serde_json::json;

/// Dead letters that are looked at, the newest.
const LOOKED_AT: &str = "200";
/// Groups on the page, each of which is counted.
const GROUPS_MAX: usize = 8;

/// Of one destination and for one reason.
pub(super) struct Group {
    pub(super) destination_id: String,
    pub(super) destination: String,
    pub(super) reason: String,
    /// All there are, or those seen for a key that may not count.
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

pub(super) async fn of(api: &Inside, session: &Session) -> Result<Vec<Group>, Refused> {
    let newest = path("/v1/dead-letters", &[("limit", Some(LOOKED_AT))]);
    let newest: Listed<DeadLetter> = api.get(session, &newest).await?;
    let mut groups = gathered(newest.items);
    groups.truncate(GROUPS_MAX);
    for group in &mut groups {
        let filter = json!({ "destination_id": group.destination_id, "reason": group.reason });
        let counted = json!({ "filter": filter, "dry_run": true });
        if let Ok(counted) = api.post(session, "/v1/replays", &counted).await {
            group.count = counted["total"].as_u64().unwrap_or(group.count);
        }
    }
    Ok(groups)
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
