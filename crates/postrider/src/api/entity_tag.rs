//! Entity tags: whether what a caller has seen of a configuration object is how it still is.
//!
//! A tag is a hash of what is shown, without what changes by itself, and of secrets, which are not shown. It is checked
//! inside the change that it guards, so nothing comes between the two.

use super::App;
use super::error::ApiError;
use super::view;
use axum::extract::FromRequestParts;
use axum::response::Response;
use http::header::{ETAG, HeaderName, IF_MATCH, IF_NONE_MATCH};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use postrider_store::Change;
use postrider_store::codec::fingerprint;
use ring::hmac;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use utoipa::IntoParams;

/// Of the hash; far more than two versions of one object need to differ.
const TAG_BYTES: usize = 16;

/// A strong entity tag, in its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntityTag(String);

impl EntityTag {
    /// Of an object as it is shown at rest.
    pub(crate) fn of<T: Serialize>(shown: &T) -> Self {
        EntityTag::quoted(&Sha256::digest(text_of(shown)))
    }

    /// Of an object that has secrets, by the change that would put it: with another secret it is another. The hash is
    /// made with a key of the gateway for nothing else, or else whoever sees the tag could try out which secret has it.
    pub(crate) fn with_secrets<T: Serialize>(app: &App, shown: &T, put: &Change) -> Self {
        let (_, fingerprint) = fingerprint(put);
        let mut hash = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, &app.subkeys.entity_tags));
        hash.update(fingerprint.as_bytes());
        hash.update(&text_of(shown));
        EntityTag::quoted(hash.sign().as_ref())
    }

    fn quoted(digest: &[u8]) -> Self {
        let hex: String = digest.iter().take(TAG_BYTES).map(|byte| format!("{byte:02x}")).collect();
        EntityTag(format!("\"{hex}\""))
    }

    /// Puts the tag on an answer.
    pub(crate) fn on(&self, mut response: Response) -> Response {
        let value = HeaderValue::try_from(self.0.as_str()).expect("hexadecimal in quotes");
        response.headers_mut().insert(ETAG, value);
        response
    }
}

fn text_of<T: Serialize>(shown: &T) -> Vec<u8> {
    serde_json::to_vec(shown).expect("views are maps with texts for keys")
}

/// `If-Match`: the caller changes only what it has seen.
#[derive(IntoParams)]
#[into_params(names("If-Match"), parameter_in = Header)]
pub(crate) struct IfMatch(
    /// The `ETag` that it must still have, else 412.
    Option<String>,
);

impl IfMatch {
    /// Refuses a change to an object that is not how the caller has seen it.
    pub(crate) fn check(&self, tag: &EntityTag) -> Result<(), ApiError> {
        match &self.0 {
            Some(asked) if !names(asked, tag) => Err(ApiError::precondition_failed()),
            _ => Ok(()),
        }
    }
}

impl FromRequestParts<Arc<App>> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, ApiError> {
        Ok(IfMatch(joined(&parts.headers, IF_MATCH)))
    }
}

/// `If-None-Match`: the caller wants only what it has not seen.
#[derive(IntoParams)]
#[into_params(names("If-None-Match"), parameter_in = Header)]
pub(crate) struct IfNoneMatch(
    /// The `ETag` that is known; when it still has it, 304.
    Option<String>,
);

impl IfNoneMatch {
    /// The object, or 304 when the caller has it already.
    pub(crate) fn answer<T: Serialize>(&self, tag: &EntityTag, shown: &T) -> Response {
        let seen = self.0.as_ref().is_some_and(|asked| names(&asked.replace("W/", ""), tag));
        if !seen {
            return tag.on(view::data(StatusCode::OK, shown));
        }
        let mut response = Response::default();
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        tag.on(response)
    }
}

impl FromRequestParts<Arc<App>> for IfNoneMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, ApiError> {
        Ok(IfNoneMatch(joined(&parts.headers, IF_NONE_MATCH)))
    }
}

/// A header that may come in several lines. What is no text names no tag of ours.
fn joined(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    let lines: Vec<&str> =
        headers.get_all(name).iter().map(|line| line.to_str().unwrap_or_default()).collect();
    (!lines.is_empty()).then(|| lines.join(","))
}

/// Whether a list of tags names this one; `*` names every one. A weak tag names none.
fn names(list: &str, tag: &EntityTag) -> bool {
    list.split(',').map(str::trim).any(|named| named == "*" || named == tag.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_a_tag_or_does_not() {
        let tag = EntityTag("\"ab\"".to_owned());
        for (list, named) in [
            ("\"ab\"", true),
            ("*", true),
            ("\"cd\", \"ab\"", true),
            (" \"ab\" ,", true),
            ("ab", false),
            ("W/\"ab\"", false),
            ("\"AB\"", false),
            ("", false),
        ] {
            assert_eq!(names(list, &tag), named, "{list}");
        }
    }
}
