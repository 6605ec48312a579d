//! An event with its attempts, as a person reads it. All of it came from outside, and is shown as text only.

use super::{items, shown, text, time};
use crate::json_text;
use crate::terminal::{Screen, Tone, clean, clean_lines, counted};
use serde_json::Value;
use std::fmt::Write as _;

/// Of a body; `--json` has all of it.
const BODY_MOST: Most = Most { lines: 200, bytes: 16 << 10 };
/// Of an answer, which is seldom worth more.
const ANSWER_MOST: Most = Most { lines: 20, bytes: 4 << 10 };

/// How much of a text is shown. A line may be as long as a body.
struct Most {
    lines: usize,
    bytes: usize,
}

/// How much of each attempt is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// What became of it.
    Outcome,
    /// With the headers of both sides.
    Headers,
}

/// The event itself: where it came from, its headers, its body.
pub(super) fn event(event: &Value, screen: Screen) -> String {
    let mut out = screen.tinted(&format!("event {}\n", clean(text(&event["id"]))), Tone::Head);
    let status = text(&event["status"]);
    let _ = writeln!(out, "  status      {}", screen.tinted(&clean(status), Tone::of(status)));
    let rows = [
        ("type", "event_type"),
        ("direction", "direction"),
        ("source", "source_id"),
        ("sent by", "created_by"),
        ("named", "external_event_id"),
        ("replay of", "replay_of"),
        ("received", "received_at"),
        ("not before", "deliver_at"),
        ("not after", "expires_at"),
    ];
    for (name, field) in rows.into_iter().filter(|(_, field)| !event[field].is_null()) {
        let _ = writeln!(out, "  {name:<10}  {}", clean(&shown(&event[field])));
    }
    out.push_str(&screen.tinted("headers\n", Tone::Head));
    out.push_str(&headers(&event["headers"], "  "));
    let body = text(&event["body"]);
    let how = if event["body_encoding"] == "base64" { ", in base64" } else { "" };
    out.push_str(
        &screen.tinted(&format!("body ({}{how})\n", counted(body_bytes(event), "byte")), Tone::Head),
    );
    out.push_str(&indented(&pretty(body), "  ", &BODY_MOST));
    out
}

/// Each delivery with its attempts.
pub(super) fn deliveries(event: &Value, attempts: &[Value], detail: Detail, screen: Screen) -> String {
    let mut out = String::new();
    for delivery in items(&event["deliveries"]) {
        let [id, to] = [&delivery["id"], &delivery["destination_id"]].map(|id| clean(text(id)));
        let head = format!("delivery {id} to {to}, priority {}: ", shown(&delivery["priority"]));
        let status = text(&delivery["status"]);
        out.push_str(&screen.tinted(&head, Tone::Head));
        out.push_str(&screen.tinted(&clean(status), Tone::of(status)));
        if let Some(reason) = delivery["reason"].as_str() {
            let _ = write!(out, " ({})", clean(reason));
        }
        if delivery["next_attempt_at"].is_string() {
            let _ = write!(out, ", next attempt {}", clean(&time(&delivery["next_attempt_at"])));
        }
        if let Some(what) = delivery["waiting_for"].as_str() {
            let _ = write!(out, ", waiting for {}", clean(&what.replace('_', " ")));
        }
        out.push('\n');
        let own = attempts.iter().filter(|attempt| attempt["delivery_id"] == delivery["id"]);
        let made = delivery["attempts_count"].as_u64().unwrap_or(0);
        match made.saturating_sub(own.clone().count() as u64) {
            0 => {}
            left_out => out.push_str(&format!("  {} earlier\n", counted(left_out, "attempt"))),
        }
        own.for_each(|one| out.push_str(&attempt(one, detail, screen)));
    }
    if items(&event["deliveries"]).is_empty() {
        out.push_str("matched no route\n");
    }
    out
}

/// What was sent and what came back.
pub(super) fn attempt(attempt: &Value, detail: Detail, screen: Screen) -> String {
    let answered = attempt["response_status"].as_u64();
    let tone = if attempt["outcome"] == "success" { Tone::Good } else { Tone::Bad };
    let outcome = answered.map_or_else(|| "no response".to_owned(), |status| status.to_string());
    let mut out = format!(
        "  {}. {}  {}  {} ms{}\n",
        shown(&attempt["attempt_number"]),
        clean(&time(&attempt["started_at"])),
        screen.tinted(&outcome, tone),
        shown(&attempt["timing"]["total_ms"]),
        steps(&attempt["timing"])
    );
    if let Some(why) = attempt["error_message"].as_str() {
        let _ = writeln!(out, "     {}", clean(why));
    }
    if detail == Detail::Headers {
        out.push_str("     request\n");
        out.push_str(&headers(&attempt["request_headers"], "       "));
        out.push_str("     response\n");
        out.push_str(&headers(&attempt["response_headers"], "       "));
    }
    out.push_str(&answer(text(&attempt["response_body"]), "     | "));
    out
}

/// What a receiver said.
pub(super) fn answer(text: &str, indent: &str) -> String {
    indented(&clean_lines(text), indent, &ANSWER_MOST)
}

/// Where the time went, as far as there was such a step.
fn steps(timing: &Value) -> String {
    let steps =
        [("dns", "dns_ms"), ("connect", "connect_ms"), ("tls", "tls_ms"), ("first byte", "first_byte_ms")];
    let there = steps.into_iter().filter(|(_, field)| timing[field].is_number());
    let there: Vec<String> = there.map(|(name, field)| format!("{name} {}", timing[field])).collect();
    if there.is_empty() { String::new() } else { format!(" ({})", there.join(", ")) }
}

fn headers(headers: &Value, indent: &str) -> String {
    let pairs = headers.as_object().into_iter().flatten();
    pairs.map(|(name, value)| format!("{indent}{}: {}\n", clean(name), clean(&shown(value)))).collect()
}

fn body_bytes(event: &Value) -> u64 {
    event["body_bytes"].as_u64().unwrap_or_else(|| {
        let body = text(&event["body"]);
        let bytes = if event["body_encoding"] == "base64" {
            body.trim_end_matches('=').len() * 3 / 4
        } else {
            body.len()
        };
        bytes as u64
    })
}

/// JSON is laid out; anything else is as it is.
fn pretty(body: &str) -> String {
    clean_lines(&json_text::laid_out(body).unwrap_or_else(|| body.to_owned()))
}

fn indented(text: &str, indent: &str, most: &Most) -> String {
    let (shown, left) = text.split_at(end_of_shown(text, most));
    let mut out: String = shown.lines().map(|line| format!("{indent}{line}\n")).collect();
    if !left.is_empty() {
        let left = counted(left.chars().count() as u64, "more character");
        let _ = writeln!(out, "{indent}… {left}; use --json to see all");
    }
    out
}

fn end_of_shown(text: &str, most: &Most) -> usize {
    let of_lines = text.match_indices('\n').nth(most.lines - 1).map_or(text.len(), |(at, _)| at + 1);
    text.floor_char_boundary(of_lines.min(most.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_by_its_lines_and_by_its_bytes() {
        let most = Most { lines: 2, bytes: 6 };
        for (text, expected) in [
            ("", ""),
            ("a\nb\n", "> a\n> b\n"),
            ("a\nb\nc\nd", "> a\n> b\n> … 3 more characters; use --json to see all\n"),
            ("123456", "> 123456\n"),
            ("1234567", "> 123456\n> … 1 more character; use --json to see all\n"),
            ("12345é", "> 12345\n> … 1 more character; use --json to see all\n"),
        ] {
            assert_eq!(indented(text, "> ", &most), expected, "{text:?}");
        }
    }
}
