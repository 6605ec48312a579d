//! A destination made ready for sending: its URL taken apart, its headers checked, once and not per attempt.

use super::client_tls::ClientTls;
use super::fixed_headers::FixedHeaders;
use super::pool::PoolKey;
use super::sealed_headers::EventHeadersKey;
use super::signer::Signer;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use postrider_core::destination::TimeoutSeconds;
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::limits::URL_BYTES_MAX;
use postrider_store::{Destination, DestinationAuth, DestinationTls};
use std::fmt;
use std::time::Duration;
use url::{Host, Url};

/// A URL that may be posted to. Parsed once; what was parsed is what is dialled.
#[derive(Clone, Debug)]
pub struct DestinationUrl {
    /// `https` or plain `http`.
    pub tls: bool,
    /// The host as it is dialled.
    pub host: Host<String>,
    /// The port, given or by scheme.
    pub port: u16,
    /// Path and query, as HTTP/1.1 asks for them.
    pub path: String,
    /// The whole of it, as HTTP/2 asks for it.
    pub whole: Uri,
    /// The `Host` header.
    pub authority: HeaderValue,
}

/// Why a URL may not be posted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadUrl {
    /// Longer than allowed.
    TooLong,
    /// Not a URL.
    Malformed,
    /// White space or control characters in it.
    Characters,
    /// Neither http nor https.
    Scheme,
    /// A user name or password in it.
    Credentials,
}

impl fmt::Display for BadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadUrl::TooLong => write!(f, "must be at most {URL_BYTES_MAX} bytes long"),
            BadUrl::Malformed => f.write_str("must be an absolute URL such as https://example.com/hook"),
            BadUrl::Characters => {
                f.write_str("must hold no spaces, tabs, line breaks or other control characters")
            }
            BadUrl::Scheme => f.write_str("must begin with https:// or http://"),
            BadUrl::Credentials => f.write_str("must not hold a user name or password; use auth_config"),
        }
    }
}

impl std::error::Error for BadUrl {}

impl DestinationUrl {
    /// Takes a URL apart.
    pub fn parse(text: &str) -> Result<Self, BadUrl> {
        if text.len() > URL_BYTES_MAX {
            return Err(BadUrl::TooLong);
        }
        // The parser drops line breaks and tabs wherever they stand: what is shown would not be what is dialled.
        if text.chars().any(|character| character.is_whitespace() || character.is_control()) {
            return Err(BadUrl::Characters);
        }
        let url = Url::parse(text).map_err(|_| BadUrl::Malformed)?;
        let tls = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(BadUrl::Scheme),
        };
        // The parser forgives `http:///path` and takes `path` for the host; nobody means that.
        let authority = text.split_once("://").map_or("", |(_, rest)| rest);
        if authority.starts_with(['/', '\\']) || authority.is_empty() {
            return Err(BadUrl::Malformed);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BadUrl::Credentials);
        }
        let host = url.host().ok_or(BadUrl::Malformed)?.to_owned();
        let port = url.port_or_known_default().ok_or(BadUrl::Malformed)?;
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_string(),
        };
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let whole = &url[..url::Position::AfterQuery];
        Ok(DestinationUrl {
            tls,
            host,
            port,
            path: path.to_owned(),
            whole: whole.parse().map_err(|_| BadUrl::Malformed)?,
            authority: HeaderValue::from_str(&authority).map_err(|_| BadUrl::Malformed)?,
        })
    }

    /// What a connection is made to. A connection to another origin is of no use.
    pub fn origin(&self) -> (bool, &Host<String>, u16) {
        (self.tls, &self.host, self.port)
    }

    /// The address in the URL itself, when its host is one and not a name.
    pub fn literal_address(&self) -> Option<std::net::IpAddr> {
        match &self.host {
            Host::Ipv4(address) => Some((*address).into()),
            Host::Ipv6(address) => Some((*address).into()),
            Host::Domain(_) => None,
        }
    }
}

/// What an attempt needs to know of a destination.
pub struct Target {
    /// `Err` when settings written by another version cannot be used; every attempt then says so.
    pub(crate) ready: Result<Ready, String>,
    pub(crate) timeout: Duration,
    pub(crate) max_concurrency: u32,
}

pub(crate) struct Ready {
    pub(crate) account: AccountId,
    pub(crate) url: DestinationUrl,
    pub(crate) pool_key: PoolKey,
    pub(crate) headers: FixedHeaders,
    /// Opens the headers that an event has for this destination.
    pub(crate) event_headers_key: Option<EventHeadersKey>,
    pub(crate) signer: Signer,
    /// Where it is not as usual.
    pub(crate) tls: Option<ClientTls>,
}

impl Target {
    /// Makes a destination ready.
    pub fn new(destination: &Destination) -> Self {
        Target {
            ready: make_ready(destination),
            timeout: destination.timeout.duration(),
            max_concurrency: destination.max_concurrency.get(),
        }
    }
}

impl Target {
    /// A URL that is no destination: no credentials, no key that signs, and the deadline of a destination by default.
    pub(crate) fn elsewhere(account: AccountId, id: DestinationId, url: DestinationUrl) -> Self {
        let pool_key = PoolKey::new(id, &url, &DestinationTls::default());
        let headers = FixedHeaders::new(&url, HeaderMap::new());
        let ready = Ready {
            account,
            pool_key,
            url,
            headers,
            event_headers_key: None,
            signer: Signer::nobody(),
            tls: None,
        };
        Target { ready: Ok(ready), timeout: TimeoutSeconds::default().duration(), max_concurrency: 1 }
    }
}

fn make_ready(destination: &Destination) -> Result<Ready, String> {
    let url = DestinationUrl::parse(&destination.url).map_err(|error| format!("url {error}"))?;
    let signer = Signer::new(destination)?;
    let tls = ClientTls::parse(&destination.tls).map_err(|error| error.to_string())?;
    let mut headers = HeaderMap::new();
    let mut put = |name: &str, value: &str| -> Result<(), String> {
        let bad = || format!("the header {name:?} cannot be sent");
        let name = HeaderName::try_from(name).map_err(|_| bad())?;
        let mut value = HeaderValue::try_from(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(())
    };
    for (name, value) in destination.custom_headers.iter() {
        put(name, value)?;
    }
    match &destination.auth {
        None => {}
        Some(DestinationAuth::Bearer { token }) => put("authorization", &format!("Bearer {token}"))?,
        Some(DestinationAuth::Header { header, value }) => put(header, value)?,
        Some(DestinationAuth::Basic { username, password }) => {
            let pair = STANDARD.encode(format!("{username}:{password}"));
            put("authorization", &format!("Basic {pair}"))?;
        }
    }
    let pool_key = PoolKey::new(destination.id, &url, &destination.tls);
    let headers = FixedHeaders::new(&url, headers);
    let event_headers_key = destination.event_headers_key.as_deref().and_then(EventHeadersKey::parse);
    Ok(Ready { account: destination.account, pool_key, url, headers, event_headers_key, signer, tls })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart_once() {
        let url = DestinationUrl::parse("https://Example.com/a/b?x=1#gone").unwrap();
        assert!(url.tls);
        assert_eq!(
            (url.host.to_string(), url.port, url.path),
            ("example.com".into(), 443, "/a/b?x=1".into())
        );
        assert_eq!(url.authority, "example.com");
        let url = DestinationUrl::parse("http://[::1]:8080").unwrap();
        assert_eq!(
            (url.port, url.path, url.authority),
            (8080, "/".into(), HeaderValue::from_static("[::1]:8080"))
        );
    }

    #[test]
    fn numbers_in_disguise_are_addresses() {
        for text in ["http://0x7f.1/", "http://2130706433/", "http://0177.0.0.1/", "http://①②⑦.⓪.⓪.①/"]
        {
            let address = DestinationUrl::parse(text).unwrap().literal_address();
            assert_eq!(address, Some("127.0.0.1".parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn urls_that_may_not_be_posted_to_are_refused() {
        for (text, expected) in [
            ("", BadUrl::Malformed),
            ("example.com/hook", BadUrl::Malformed),
            ("ftp://example.com", BadUrl::Scheme),
            ("file:///etc/passwd", BadUrl::Scheme),
            ("https://", BadUrl::Malformed),
            ("http:///path", BadUrl::Malformed),
            ("http:example.com", BadUrl::Malformed),
            ("https://user:pw@example.com", BadUrl::Credentials),
            ("https://example.com/a\r\nb", BadUrl::Characters),
            ("ht\ttps://example.com/", BadUrl::Characters),
            (" https://example.com/", BadUrl::Characters),
            ("https://example.com/a b", BadUrl::Characters),
            ("https://example.com/\u{7f}\u{85}", BadUrl::Characters),
        ] {
            assert_eq!(DestinationUrl::parse(text).unwrap_err(), expected, "{text}");
        }
        let long = format!("https://example.com/{}", "x".repeat(URL_BYTES_MAX));
        assert_eq!(DestinationUrl::parse(&long).unwrap_err(), BadUrl::TooLong);
    }
}
