//! Pages for a key that may look and change nothing: what would only be refused is not offered. It is taken out of the page
//! as it was made, so that a form that somebody adds is left out too.
//!
//! A form that shows settings (`data-shown`) stays to be read, with nothing to send. What makes no sense without a form is
//! marked in its template (`data-changes`) and goes as a whole; no element of the same name stands in it.

use super::Shared;
use super::session::Session;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt;

/// Forms that change nothing of what a key is for.
const KEPT: [&str; 3] = ["/sign-in", "/sign-out", "/routes/test"];

/// Stands before every page of the dashboard.
pub(super) async fn leave_out(State(desk): Shared, mut request: Request, next: Next) -> Response {
    // A store that cannot say who this is refuses the page itself, if it is not for everybody.
    let session = desk.sessions.find(request.headers()).await.ok().flatten();
    if let Some(session) = &session {
        request.extensions_mut().insert(session.clone());
    }
    let answer = next.run(request).await;
    if session.is_some_and(|session| Session::is_reader(&session)) && is_page(&answer) {
        return rewritten(answer).await;
    }
    answer
}

fn is_page(answer: &Response) -> bool {
    let content_type = answer.headers().get(CONTENT_TYPE).and_then(|known| known.to_str().ok());
    content_type.is_some_and(|known| known.starts_with("text/html"))
}

async fn rewritten(answer: Response) -> Response {
    let (head, body) = answer.into_parts();
    match body.collect().await {
        Ok(page) => {
            let page = without_changes(&String::from_utf8_lossy(&page.to_bytes()));
            Response::from_parts(head, Body::from(page))
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// What becomes of an element.
enum Fate {
    Kept,
    LeftOut,
    /// Its inside is kept, but for its buttons.
    Shown,
}

fn without_changes(page: &str) -> String {
    filtered(page, |tag| match name(tag) {
        _ if has(tag, "data-changes") => Fate::LeftOut,
        "form" if !tag.contains("method=\"post\"") || is_kept(tag) => Fate::Kept,
        "form" if has(tag, "data-shown") => Fate::Shown,
        "form" => Fate::LeftOut,
        _ => Fate::Kept,
    })
}

/// Text from outside has no `<` and no quotes on a page, so tags are those of our templates.
fn filtered(page: &str, fate: impl Fn(&str) -> Fate) -> String {
    let mut kept = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, tag)) = next_tag(rest) {
        kept.push_str(before);
        let behind_tag = &rest[before.len() + tag.len()..];
        rest = match fate(tag) {
            Fate::Kept => {
                kept.push_str(tag);
                behind_tag
            }
            Fate::LeftOut => split_end(behind_tag, name(tag)).1,
            Fate::Shown => {
                let (inside, behind) = split_end(behind_tag, name(tag));
                kept.push_str(&shown(tag, inside));
                behind
            }
        };
    }
    kept.push_str(rest);
    kept
}

/// A form as something to read: whatever is in it cannot be filled in.
fn shown(tag: &str, inside: &str) -> String {
    let class = attribute(tag, "class").unwrap_or_default();
    let inside = filtered(inside, |tag| if name(tag) == "button" { Fate::LeftOut } else { Fate::Kept });
    format!("<fieldset class=\"shown {class}\" disabled>{inside}</fieldset>")
}

/// What stands before the next tag, and the tag.
fn next_tag(text: &str) -> Option<(&str, &str)> {
    let start = text.find('<')?;
    let end = start + text[start..].find('>')? + 1;
    Some((&text[..start], &text[start..end]))
}

/// What stands in an element and behind it.
fn split_end<'a>(text: &'a str, name: &str) -> (&'a str, &'a str) {
    text.split_once(&format!("</{name}>")).unwrap_or((text, ""))
}

fn name(tag: &str) -> &str {
    tag[1..].split(|sign: char| sign.is_whitespace() || sign == '>').next().unwrap_or_default()
}

/// Whether a tag has an attribute without a value; values stand between quotes.
fn has(tag: &str, attribute: &str) -> bool {
    let words = tag.split('"').step_by(2).flat_map(|outside| outside.split([' ', '>']));
    words.into_iter().any(|word| word == attribute)
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_once(&format!(" {name}=\""))?.1.split('"').next()
}

fn is_kept(form: &str) -> bool {
    let page = attribute(form, "action").and_then(|action| action.split('?').next());
    page.is_some_and(|page| KEPT.contains(&page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_something_is_left_out_and_nothing_else() {
        for (page, expected) in [
            ("<p>a</p>", "<p>a</p>"),
            ("a<form method=\"post\" action=\"/x\"><button>b</button></form>c", "ac"),
            ("<form method=\"get\" action=\"/x\">a</form>", "<form method=\"get\" action=\"/x\">a</form>"),
            (
                "<form method=\"post\" action=\"/sign-in?next=%2F\">a</form>",
                "<form method=\"post\" action=\"/sign-in?next=%2F\">a</form>",
            ),
            ("<form method=\"post\" action=\"/sign-in-to\">a</form>", ""),
            ("a<section class=\"card\" data-changes><h2>b</h2></section><p>c</p>", "a<p>c</p>"),
            (
                "<p title=\"it says data-changes \">data-changes data-shown</p>",
                "<p title=\"it says data-changes \">data-changes data-shown</p>",
            ),
            (
                "<form class=\"a\" data-shown method=\"post\" action=\"/x\"><input value=\"b\"><button>c</button></form>d",
                "<fieldset class=\"shown a\" disabled><input value=\"b\"></fieldset>d",
            ),
            ("<form method=\"post\" action=\"/x\">never ended", ""),
            ("a < b", "a < b"),
        ] {
            assert_eq!(without_changes(page), expected, "{page}");
        }
    }
}
