//! What a signature covers, as a text with places in it: `v0:{timestamp}:{body}`.

use super::verifier::Incoming;
use http::HeaderName;
use http::header::CONTENT_TYPE;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use url::form_urlencoded;

/// The parts, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Literal(String),
    /// The timestamp as it was written.
    Timestamp,
    /// The header that carries the sender's id of the event.
    Id,
    Method,
    /// The public URL that was posted to, with its query.
    Url,
    /// The same with those characters written out that HubSpot does not escape.
    UrlUnescaped,
    /// The same, which must have the SHA-256 of the body in this parameter.
    UrlWithSha256(String),
    /// The parameters of a form by name, names and values without anything between.
    Form,
    Header(HeaderName),
    Body,
}

/// What a template may hold, for the sentence that refuses another.
pub(super) const PLACES: &str = "{timestamp}, {id}, {method}, {url}, {url_unescaped}, {url_with_sha256:PARAMETER}, {form}, {header:NAME}, {body}";
/// A form that is signed has some dozen parameters.
const FORM_PARAMETERS_MAX: usize = 1000;
const TEMPLATE_BYTES_MAX: usize = 512;

/// What a request says of itself beside its parts.
pub(super) struct Told<'a> {
    pub(super) timestamp: Option<&'a str>,
    pub(super) id: Option<&'a str>,
}

impl Template {
    /// Reads one; `None` when a place in it is unknown or a brace stands alone.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = (text.len() <= TEMPLATE_BYTES_MAX).then_some(text)?;
        while let Some((literal, after)) = rest.split_once('{') {
            let (place, left) = after.split_once('}')?;
            parts.extend(Part::literal(literal)?);
            parts.push(Part::parse(place)?);
            rest = left;
        }
        parts.extend(Part::literal(rest)?);
        Some(Template(parts))
    }

    pub(super) fn has(&self, part: &Part) -> bool {
        self.0.contains(part)
    }

    /// Whether a changed body changes what is signed.
    pub(super) fn covers_body(&self) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Body | Part::Form | Part::UrlWithSha256(_)))
    }

    /// The pieces that were signed if the signature is true; `None` when the request lacks one of them.
    pub(super) fn fill<'a>(&'a self, request: &Incoming<'a>, told: &Told<'a>) -> Option<Vec<Cow<'a, [u8]>>> {
        self.0.iter().map(|part| part.fill(request, told)).collect()
    }
}

impl Part {
    fn literal(text: &str) -> Option<Option<Self>> {
        let legal = !text.contains('}');
        legal.then(|| (!text.is_empty()).then(|| Part::Literal(text.to_owned())))
    }

    fn parse(place: &str) -> Option<Self> {
        Some(match place.split_once(':') {
            Some(("header", name)) => Part::Header(HeaderName::try_from(name).ok()?),
            Some(("url_with_sha256", parameter)) if !parameter.is_empty() => {
                Part::UrlWithSha256(parameter.to_owned())
            }
            Some(_) => return None,
            None => match place {
                "timestamp" => Part::Timestamp,
                "id" => Part::Id,
                "method" => Part::Method,
                "url" => Part::Url,
                "url_unescaped" => Part::UrlUnescaped,
                "form" => Part::Form,
                "body" => Part::Body,
                _ => return None,
            },
        })
    }

    fn fill<'a>(&'a self, request: &Incoming<'a>, told: &Told<'a>) -> Option<Cow<'a, [u8]>> {
        let text = |text: &'a str| Some(Cow::Borrowed(text.as_bytes()));
        match self {
            Part::Literal(literal) => text(literal),
            Part::Timestamp => text(told.timestamp?),
            Part::Id => text(told.id?),
            Part::Method => text(request.method),
            Part::Url => text(request.url),
            Part::UrlUnescaped => Some(Cow::Owned(unescaped(request.url).into_bytes())),
            Part::UrlWithSha256(parameter) => {
                names_body(request, parameter).then_some(Cow::Borrowed(request.url.as_bytes()))
            }
            Part::Form => form(request).map(Cow::Owned),
            Part::Header(name) => request.headers.get(name).map(|value| Cow::Borrowed(value.as_bytes())),
            Part::Body => Some(Cow::Borrowed(request.body)),
        }
    }
}

/// A body that is no form, or of which nothing is left, would not be covered: the signature of a URL alone, which
/// Twilio makes for bodies that are no forms, would be good for it.
fn form(request: &Incoming<'_>) -> Option<Vec<u8>> {
    let kind = request.headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return None;
    }
    let parameters = form_urlencoded::parse(request.body);
    let mut parameters: Vec<_> = parameters.take(FORM_PARAMETERS_MAX + 1).collect();
    if parameters.len() > FORM_PARAMETERS_MAX {
        return None;
    }
    parameters.sort();
    parameters.dedup();
    let pieces = parameters.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
    Some(pieces.flatten().copied().collect()).filter(|listed: &Vec<u8>| !listed.is_empty())
}

fn names_body(request: &Incoming<'_>, parameter: &str) -> bool {
    let Some((_, query)) = request.url.split_once('?') else { return false };
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    let Some((_, named)) = parameters.find(|(name, _)| name == parameter) else { return false };
    let hash: String = Sha256::digest(request.body).iter().map(|byte| format!("{byte:02x}")).collect();
    named.eq_ignore_ascii_case(&hash)
}

/// By HubSpot's table of characters that are decoded before signing.
fn unescaped(url: &str) -> String {
    const WRITTEN_OUT: [(&str, &str); 12] = [
        ("%3A", ":"),
        ("%2F", "/"),
        ("%3F", "?"),
        ("%40", "@"),
        ("%21", "!"),
        ("%24", "$"),
        ("%27", "'"),
        ("%28", "("),
        ("%29", ")"),
        ("%2A", "*"),
        ("%2C", ","),
        ("%3B", ";"),
    ];
    let replaced = |text: String, (escape, letter): (&str, &str)| {
        text.replace(escape, letter).replace(&escape.to_ascii_lowercase(), letter)
    };
    WRITTEN_OUT.into_iter().fold(url.to_owned(), replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_literals_and_known_places() {
        let parts = Template::parse("v0:{timestamp}:{body}").unwrap().0;
        let literal = |text: &str| Part::Literal(text.into());
        assert_eq!(parts, [literal("v0:"), Part::Timestamp, literal(":"), Part::Body]);
        let long = "x".repeat(600);
        for bad in
            ["{", "}", "{body", "body}", "{}", "{colour}", "{header:}", "{header:a b}", "{body:x}", &long]
        {
            assert_eq!(Template::parse(bad), None, "{bad}");
        }
        assert!(!Template::parse("{timestamp}{header:x-body}").unwrap().covers_body());
    }

    #[test]
    fn urls_are_written_out_as_hubspot_does() {
        assert_eq!(unescaped("https://a/b?c=%2Fd%3a%20"), "https://a/b?c=/d:%20");
    }
}
