//! Somebody who is signed in to the dashboard and opens its pages.

use crate::units::nanoseconds;
use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{CONTENT_TYPE, COOKIE, HeaderValue, SET_COOKIE};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const PAGE_BYTES_MAX: usize = 16 << 20;
/// One that takes longer has failed.
const WAIT_MAX: Duration = Duration::from_secs(60);

pub(super) struct Visitor {
    client: Client<HttpConnector, Full<Bytes>>,
    address: SocketAddr,
    cookie: HeaderValue,
}

/// A page, from the request to its last byte.
pub(super) struct Opened {
    pub(super) took_ns: u64,
    pub(super) bytes: u64,
}

impl Visitor {
    pub(super) async fn sign_in(address: SocketAddr, key: &str) -> anyhow::Result<Visitor> {
        let client = Client::builder(TokioExecutor::new()).build_http();
        let mut visitor = Visitor { client, address, cookie: HeaderValue::from_static("") };
        let (signed_in, _) = visitor.send(Method::POST, "/sign-in", format!("key={key}")).await?;
        anyhow::ensure!(
            signed_in.status() == StatusCode::SEE_OTHER,
            "signing in answered {}",
            signed_in.status()
        );
        let cookie = signed_in.headers().get(SET_COOKIE).and_then(|cookie| cookie.to_str().ok());
        let cookie =
            cookie.and_then(|cookie| cookie.split(';').next()).context("signing in gave no cookie")?;
        visitor.cookie = HeaderValue::from_str(cookie).context("the cookie")?;
        Ok(visitor)
    }

    pub(super) async fn open(&self, path: &str) -> anyhow::Result<Opened> {
        let began = Instant::now();
        let (page, bytes) = self.send(Method::GET, path, String::new()).await?;
        let took_ns = nanoseconds(began.elapsed());
        anyhow::ensure!(page.status() == StatusCode::OK, "{path} answered {}", page.status());
        Ok(Opened { took_ns, bytes: bytes.len() as u64 })
    }

    async fn send(&self, method: Method, path: &str, form: String) -> anyhow::Result<(Response<()>, Bytes)> {
        let request = Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
            .header(COOKIE, &self.cookie)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Full::new(Bytes::from(form)))
            .with_context(|| format!("the address of {path}"))?;
        let exchange = async {
            let (head, body) = self.client.request(request).await?.into_parts();
            let body =
                Limited::new(body, PAGE_BYTES_MAX).collect().await.map_err(anyhow::Error::from_boxed)?;
            Ok::<_, anyhow::Error>((Response::from_parts(head, ()), body.to_bytes()))
        };
        let done = tokio::time::timeout(WAIT_MAX, exchange).await;
        done.with_context(|| format!("{path} did not answer"))?.with_context(|| format!("open {path}"))
    }
}
