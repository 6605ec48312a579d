//! Where events go: one loopback address and the paths that take turns.

use anyhow::Context as _;
use hyper::Uri;
use hyper::http::uri::PathAndQuery;
use std::net::SocketAddr;

#[derive(Debug, Clone)]
pub(crate) struct Target {
    address: SocketAddr,
    paths: Vec<PathAndQuery>,
}

impl Target {
    /// All URLs must be plain HTTP at the same loopback address, since one set of connections serves them.
    pub(crate) fn parse(urls: &[String]) -> anyhow::Result<Target> {
        let mut parsed = urls.iter().map(|url| parse(url).with_context(|| format!("--url {url}")));
        let (address, path) = parsed.next().context("at least one --url is needed")??;
        let mut paths = vec![path];
        for rest in parsed {
            let (other, path) = rest?;
            anyhow::ensure!(other == address, "{other} and {address} cannot share connections");
            paths.push(path);
        }
        Ok(Target { address, paths })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The paths take turns by the event's number.
    pub(crate) fn path(&self, seq: u64) -> &PathAndQuery {
        let turn = seq % u64::try_from(self.paths.len()).expect("a length fits in 64 bits");
        &self.paths[usize::try_from(turn).expect("below the number of paths")]
    }
}

fn parse(url: &str) -> anyhow::Result<(SocketAddr, PathAndQuery)> {
    let uri: Uri = url.parse().context("not a URL")?;
    anyhow::ensure!(uri.scheme_str() == Some("http"), "not http");
    let authority = uri.authority().context("no address")?;
    let address: SocketAddr = authority.as_str().parse().context("not an IP address and port")?;
    anyhow::ensure!(address.ip().is_loopback(), "not a loopback address");
    let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    Ok((address, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(urls: &[&str]) -> anyhow::Result<Target> {
        Target::parse(&urls.iter().map(|&url| url.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn paths_take_turns() {
        let target = target(&["http://127.0.0.1:80/a", "http://127.0.0.1:80/b?c=d"]).expect("legal");
        let taken: Vec<&str> = (0..3).map(|seq| target.path(seq).as_str()).collect();
        assert_eq!(taken, ["/a", "/b?c=d", "/a"]);
    }

    #[test]
    fn what_is_not_plain_http_on_one_loopback_address_is_refused() {
        let refused: [&[&str]; 6] = [
            &[],
            &["https://127.0.0.1:80/"],
            &["http://example.com:80/"],
            &["http://192.0.2.1:80/"],
            &["http://127.0.0.1/"],
            &["http://127.0.0.1:80/", "http://127.0.0.1:81/"],
        ];
        for urls in refused {
            assert!(target(urls).is_err(), "{urls:?}");
        }
    }
}
