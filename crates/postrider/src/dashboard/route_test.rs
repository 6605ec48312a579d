//! The route tester: which routes take a sample event, why others do not, and what each destination would be sent.

use super::Shared;
use super::answer::{Frame, Refused, shown};
use super::clip::short;
use super::event::readable;
use super::filled::Filled;
use super::guard::{Change, Form, Visitor};
use super::inside::Inside;
use super::routes::Ends;
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Routes on the page, and of what each destination would be sent.
const ROUTES_MAX: usize = 30;
const REQUEST_BYTES: usize = 1200;

#[derive(Deserialize)]
struct Verdicts {
    schema_error: Option<SchemaError>,
    routes: Vec<Verdict>,
}

#[derive(Deserialize)]
struct SchemaError {
    field: String,
    error: String,
}

#[derive(Deserialize)]
struct Verdict {
    route_id: Option<String>,
    destination_id: String,
    matches: bool,
    reason: Option<String>,
    error: Option<String>,
    priority: Option<u64>,
    ordering_key: Option<String>,
    request: Option<Sample>,
}

#[derive(Deserialize)]
struct Sample {
    url: String,
    headers: Map<String, Value>,
    body: String,
    body_encoding: String,
}

#[derive(Template)]
#[template(path = "route_test.html")]
struct RouteTest {
    frame: Frame,
    ends: Ends,
    filled: Filled,
    judged: Option<Verdicts>,
}

const FIELDS: [&str; 4] = ["source_id", "event_type", "headers", "payload"];

pub(super) async fn page(State(desk): Shared, Visitor(session): Visitor) -> Response {
    shown(&session, look(&desk.api, &session).await)
}

async fn look(api: &Inside, session: &Session) -> Result<RouteTest, Refused> {
    let ends = Ends::look(api, session).await?;
    let payload = "{\n  \"amount\": 100\n}".to_owned();
    let filled = Filled::with([("event_type", "order.paid".to_owned()), ("payload", payload)]);
    Ok(RouteTest { frame: Frame::of(Some(session), "routes"), ends, filled, judged: None })
}

pub(super) async fn submit(State(desk): Shared, Change(session, form): Change) -> Response {
    let tried = match sample(&form) {
        Ok(sample) => desk.api.post(&session, "/v1/routes/test", &sample).await,
        Err(refused) => Err(refused),
    };
    let page = look(&desk.api, &session).await;
    let page = page.map(|page| match tried {
        Ok(judged) => {
            RouteTest { judged: Verdicts::deserialize(judged).ok(), filled: Filled::of(form), ..page }
        }
        Err(refused) => {
            let (filled, refused) = Filled::refused(form, &FIELDS, refused);
            RouteTest { frame: page.frame.refusing(refused), filled, ..page }
        }
    });
    shown(&session, page)
}

/// The event of the form. The payload is sent as it was written; headers are lines of `name: value`.
fn sample(form: &Form) -> Result<Value, Refused> {
    let mut sample = Map::new();
    for name in ["source_id", "event_type", "payload"] {
        if let Some(text) = form.text(name) {
            sample.insert(name.to_owned(), json!(text));
        }
    }
    let mut headers = Map::new();
    for line in form.text("headers").unwrap_or_default().lines().filter(|line| !line.trim().is_empty()) {
        let (name, value) = line.split_once(':').ok_or_else(|| Refused {
            field: Some("headers".to_owned()),
            ..Refused::new(StatusCode::BAD_REQUEST, "headers must have one `Name: value` per line.")
        })?;
        headers.insert(name.trim().to_owned(), json!(value.trim()));
    }
    sample.insert("headers".to_owned(), Value::Object(headers));
    Ok(Value::Object(sample))
}

impl Verdicts {
    fn shown(&self) -> &[Verdict] {
        &self.routes[..self.routes.len().min(ROUTES_MAX)]
    }

    fn left_out(&self) -> usize {
        self.routes.len().saturating_sub(ROUTES_MAX)
    }

    fn taken(&self) -> usize {
        self.routes.iter().filter(|verdict| verdict.matches).count()
    }
}

impl Verdict {
    /// Why a route does not take it, in words.
    fn why(&self) -> &'static str {
        match self.reason.as_deref() {
            Some("inactive") => "inactive",
            Some("other_source") => "for another source",
            Some("other_type") => "for other event types",
            Some("filter_false") => "filter is false",
            Some("filter_error") => "filter failed",
            Some("already_routed") => "an earlier route already sends it to this destination",
            _ => "",
        }
    }
}

impl Sample {
    /// As it would go out, as far as there is room.
    fn request(&self) -> String {
        let (body, _) = readable(&self.body, &self.body_encoding);
        short(&format!("POST {}\n{}\n{body}", self.url, show::lines(&self.headers)), REQUEST_BYTES)
    }
}
