//! Asks the API without leaving the process, as the key that signed in.

use super::answer::Refused;
use super::filled::SEEN;
use super::guard::Form;
use super::session::Session;
use crate::api::{ACCOUNT_HEADER, SignedIn};
use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::header::{ETAG, IF_MATCH, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::ServiceExt;

/// What the API says of it is for programs.
const CHANGED_SINCE: &str =
    "Nothing was saved: this changed since you opened the page. Reload it to see the current values.";

pub(super) struct Inside(Router);

#[derive(Deserialize)]
struct Data<T> {
    data: T,
}

/// A list with the place of its next page.
#[derive(Deserialize)]
pub(super) struct Listed<T> {
    #[serde(alias = "data")]
    pub(super) items: Vec<T>,
    pub(super) next_cursor: Option<String>,
}

/// What a refusal says; `/readyz` has a word of its own for it.
#[derive(Deserialize)]
struct Refusal {
    #[serde(alias = "reason")]
    error: String,
    #[serde(default)]
    code: String,
    field: Option<String>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Listed { items: Vec::new(), next_cursor: None }
    }
}

impl Inside {
    pub(super) fn new(api: Router) -> Self {
        Inside(api)
    }

    /// What stands in `data` of the answer.
    pub(super) async fn get<T: DeserializeOwned>(&self, session: &Session, path: &str) -> Result<T, Refused> {
        let bytes = self.bytes(session, Method::GET, path, None).await?;
        read::<Data<T>>(&bytes).map(|answer| answer.data)
    }

    /// An object that a form changes, and the tag of what the form shows.
    pub(super) async fn get_tagged<T: DeserializeOwned>(
        &self,
        session: &Session,
        path: &str,
    ) -> Result<(T, String), Refused> {
        let answer = self.taken(request(session, Method::GET, path, None)?).await?;
        let tag = answer.headers().get(ETAG).and_then(|tag| tag.to_str().ok()).unwrap_or_default().to_owned();
        read::<Data<T>>(&whole(answer).await?).map(|answer| (answer.data, tag))
    }

    /// What a form asks for, or nothing and why: a filter that is refused leaves the form as it was filled in.
    pub(super) async fn search<T: DeserializeOwned + Default>(
        &self,
        session: &Session,
        path: &str,
    ) -> Result<(T, Option<Refused>), Refused> {
        match self.get(session, path).await {
            Ok(found) => Ok((found, None)),
            Err(refused) if matches!(refused.status.as_u16(), 400 | 422) => Ok((T::default(), Some(refused))),
            Err(refused) => Err(refused),
        }
    }

    /// Why something is refused, if it is.
    pub(super) async fn refusal(&self, session: &Session, path: &str) -> Option<Refused> {
        self.bytes(session, Method::GET, path, None).await.err()
    }

    /// A list with its cursor beside it.
    pub(super) async fn list<T: DeserializeOwned>(
        &self,
        session: &Session,
        path: &str,
    ) -> Result<Listed<T>, Refused> {
        read(&self.bytes(session, Method::GET, path, None).await?)
    }

    /// A change, with what stands in `data` of the answer.
    pub(super) async fn post(&self, session: &Session, path: &str, body: &Value) -> Result<Value, Refused> {
        self.change(session, Method::POST, path, body).await
    }

    pub(super) async fn change(
        &self,
        session: &Session,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<Value, Refused> {
        let bytes = self.bytes(session, method, path, Some(body)).await?;
        // Where there is nothing to answer there is no body.
        if bytes.is_empty() { Ok(Value::Null) } else { read::<Data<Value>>(&bytes).map(|answer| answer.data) }
    }

    /// Changes an object that a form has shown, unless somebody else has changed it since: a form sends all of its fields,
    /// so one that was left open would take the others' changes back.
    pub(super) async fn save(
        &self,
        session: &Session,
        path: &str,
        form: &Form,
        body: &Value,
    ) -> Result<Value, Refused> {
        let mut request = request(session, Method::PATCH, path, Some(body))?;
        if let Some(seen) = form.text(SEEN) {
            // What fits no header is no tag of ours, and is refused as an old one.
            let seen = HeaderValue::from_str(seen).unwrap_or(HeaderValue::from_static("\"\""));
            request.headers_mut().insert(IF_MATCH, seen);
        }
        let answer = self.taken(request).await.map_err(|refused| match refused.status {
            StatusCode::PRECONDITION_FAILED => Refused { sentence: CHANGED_SINCE.to_owned(), ..refused },
            _ => refused,
        })?;
        read::<Data<Value>>(&whole(answer).await?).map(|answer| answer.data)
    }

    /// An answer that goes on, as it comes. A reader that was cut off says where it has left off.
    pub(super) async fn stream(
        &self,
        session: &Session,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<Response, Refused> {
        let mut request = request(session, Method::GET, path, None)?;
        if let Some(last) = headers.get("last-event-id") {
            request.headers_mut().insert("last-event-id", last.clone());
        }
        self.taken(request).await
    }

    async fn bytes(
        &self,
        session: &Session,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Vec<u8>, Refused> {
        whole(self.taken(request(session, method, path, body)?).await?).await
    }

    /// The answer, if it is no refusal.
    async fn taken(&self, request: Request<Body>) -> Result<Response, Refused> {
        let answer = match self.0.clone().oneshot(request).await {
            Ok(answer) => answer,
            Err(never) => match never {},
        };
        if answer.status().is_success() { Ok(answer) } else { Err(refusal(answer).await) }
    }
}

async fn whole(answer: Response) -> Result<Vec<u8>, Refused> {
    let body = answer.into_body().collect().await;
    let broken = |_| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, "The response was cut off.");
    Ok(body.map_err(broken)?.to_bytes().into())
}

/// As the key that signed in. The path may hold what came from outside.
fn request(
    session: &Session,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<Request<Body>, Refused> {
    let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let request = Request::builder().method(method).uri(path).body(body);
    let mut request = request.map_err(|_| Refused::new(StatusCode::NOT_FOUND, "Page not found."))?;
    let signed_in = if session.begins() { SignedIn::first } else { SignedIn::further };
    request.extensions_mut().insert(signed_in(session.key_hash));
    if let Some(account) = &session.account {
        let account = HeaderValue::from_str(account)
            .map_err(|_| Refused::new(StatusCode::NOT_FOUND, "Account not found."))?;
        request.headers_mut().insert(ACCOUNT_HEADER, account);
    }
    Ok(request)
}

/// In the sentence of the API.
async fn refusal(answer: Response) -> Refused {
    let (status, retry_after) = (answer.status(), answer.headers().get(RETRY_AFTER).cloned());
    let bytes = answer.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    match serde_json::from_slice::<Refusal>(&bytes) {
        Ok(Refusal { error, code, field }) => Refused { status, sentence: error, code, field, retry_after },
        Err(_) => Refused::new(status, status.to_string()),
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(bytes).map_err(|error| not_understood(&error))
}

/// What a page shows of an answer that it has looked at already.
pub(super) fn part<T: DeserializeOwned>(answer: &Value) -> Result<T, Refused> {
    T::deserialize(answer).map_err(|error| not_understood(&error))
}

fn not_understood(error: &serde_json::Error) -> Refused {
    tracing::error!(%error, "a page received an unexpected API response");
    let sentence = "The API responded in an unexpected format.";
    Refused::new(StatusCode::INTERNAL_SERVER_ERROR, sentence)
}

/// A path with parameters; those without a value are left out.
pub(super) fn path(base: &str, parameters: &[(&str, Option<&str>)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in parameters {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    let query = query.finish();
    if query.is_empty() { base.to_owned() } else { format!("{base}?{query}") }
}

/// One part of a path, whatever is in it.
pub(super) fn segment(id: &str) -> String {
    url::form_urlencoded::byte_serialize(id.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_cannot_become_others() {
        let given = [("status", None), ("text", Some("a&limit=9 #"))];
        assert_eq!(path("/v1/events", &given), "/v1/events?text=a%26limit%3D9+%23");
        assert_eq!(path("/v1/events", &[]), "/v1/events");
    }
}
