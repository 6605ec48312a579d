//! Headers by which proxies speak: where a request came from, where it goes, and by which method. A request that has one
//! came through a proxy, so it is not of this machine; and a sender must not say that to a receiver in our name.

use std::borrow::Cow;

const NAMES: [&str; 27] = [
    "client-ip",
    "fastly-client-ip",
    "fly-client-ip",
    "forwarded",
    "front-end-https",
    "proxy",
    "true-client-ip",
    "via",
    "wl-proxy-client-ip",
    "x-accel-redirect",
    "x-appengine-user-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-forwarded",
    "x-host",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-host",
    "x-original-url",
    "x-proxyuser-ip",
    "x-real-ip",
    "x-remote-addr",
    "x-remote-ip",
    "x-rewrite-url",
    "x-scheme",
    "x-url-scheme",
];

/// Of each proxy several begin so.
const PREFIXES: [&str; 7] =
    ["cf-", "cloudfront-", "proxy-", "x-azure-", "x-envoy-", "x-forwarded-", "x-original-forwarded-"];

/// Whether proxies speak by a header of this name, in lower case and folded.
pub fn is_of_proxy(folded: &str) -> bool {
    NAMES.contains(&folded) || PREFIXES.iter().any(|prefix| folded.starts_with(prefix))
}

/// A name as receivers behind CGI, WSGI and what follows them know it, where `X-Tenant` and `X_Tenant` are one: of a name in
/// lower case.
pub fn folded(name: &str) -> Cow<'_, str> {
    let stays = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if name.bytes().all(stays) {
        return Cow::Borrowed(name);
    }
    let fold = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    Cow::Owned(name.chars().map(fold).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_receivers_know_them() {
        for name in ["x-forwarded-for", "x_forwarded_for", "x.real.ip", "via", "cf_ray", "proxy-connection"] {
            assert!(is_of_proxy(&folded(name)), "{name}");
        }
        for name in ["x-request-id", "user-agent", "x-forward", "viaduct", "x-tenant"] {
            assert!(!is_of_proxy(&folded(name)), "{name}");
        }
    }
}
