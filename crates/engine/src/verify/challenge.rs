//! Questions that a provider asks before it sends events, and the answers it waits for. Neither is an event.

use super::pointer::{Found, find};

/// Whose questions are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Challenge {
    /// `{"type": "url_verification", "challenge": …}` gets the challenge back.
    Slack,
    /// `{"type": 1}`, a PING, gets `{"type": 1}`, a PONG.
    Discord,
}

/// Slack's are some 50 characters. What is longer is taken as an event, not sent back.
const CHALLENGE_BYTES_MAX: usize = 4096;

impl Challenge {
    pub(super) fn from_word(word: &str) -> Option<Self> {
        match word {
            "slack" => Some(Challenge::Slack),
            "discord" => Some(Challenge::Discord),
            _ => None,
        }
    }

    /// The answer in JSON when this verified body is such a question.
    pub fn reply(self, body: &[u8]) -> Option<String> {
        match (self, find(body, "/type")?) {
            (Challenge::Slack, Found::Text(kind)) if kind == "url_verification" => {
                let Found::Text(challenge) = find(body, "/challenge")? else { return None };
                let short = challenge.len() <= CHALLENGE_BYTES_MAX;
                short.then(|| serde_json::json!({ "challenge": challenge }).to_string())
            }
            (Challenge::Discord, Found::Number(kind)) if kind == "1" => Some(r#"{"type":1}"#.to_owned()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_answered_and_events_are_not() {
        let long = format!(r#"{{"type":"url_verification","challenge":"{}"}}"#, "x".repeat(5000));
        for (challenge, body, expected) in [
            (
                Challenge::Slack,
                r#"{"type":"url_verification","challenge":"3eZ\"b"}"#,
                Some(r#"{"challenge":"3eZ\"b"}"#),
            ),
            (Challenge::Slack, r#"{"type":"url_verification"}"#, None),
            (Challenge::Slack, r#"{"type":"url_verification","challenge":7}"#, None),
            (Challenge::Slack, r#"{"type":"event_callback","challenge":"x"}"#, None),
            (Challenge::Slack, r#"{"type":1}"#, None),
            (Challenge::Slack, "payload=1", None),
            (Challenge::Slack, &long, None),
            (Challenge::Discord, r#"{"type":1,"id":"9"}"#, Some(r#"{"type":1}"#)),
            (Challenge::Discord, r#"{"type":2}"#, None),
            (Challenge::Discord, r#"{"type":"1"}"#, None),
            (Challenge::Discord, "", None),
        ] {
            assert_eq!(challenge.reply(body.as_bytes()).as_deref(), expected, "{body:.40}");
        }
    }
}
