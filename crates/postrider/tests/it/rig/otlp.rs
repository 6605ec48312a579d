//! A collector of traces, by gRPC, and what spans are in a request to one.

use super::wait_until;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response};
use http_body_util::{BodyExt, Full};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread;

/// A span as a collector sees it; ids in hexadecimal, empty when there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpanSeen {
    pub(crate) trace: String,
    pub(crate) id: String,
    pub(crate) parent: String,
    pub(crate) state: String,
    pub(crate) name: String,
    pub(crate) kind: u64,
    pub(crate) began_ns: u64,
    pub(crate) ended_ns: u64,
    pub(crate) attributes: BTreeMap<String, String>,
    pub(crate) error: String,
}

/// A field of a protobuf message.
enum Field<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

/// The spans of a request.
pub(crate) fn spans(request: &[u8]) -> Vec<SpanSeen> {
    let inner = |bytes, field| messages(bytes, field).collect::<Vec<_>>();
    let of_resource = inner(request, 1).into_iter().flat_map(|bytes| inner(bytes, 2));
    of_resource.flat_map(|bytes| inner(bytes, 2)).map(span).collect()
}

fn span(bytes: &[u8]) -> SpanSeen {
    let mut seen = SpanSeen::default();
    for (number, field) in fields(bytes) {
        match (number, field) {
            (1, Field::Bytes(id)) => seen.trace = hex(id),
            (2, Field::Bytes(id)) => seen.id = hex(id),
            (3, Field::Bytes(state)) => seen.state = text(state),
            (4, Field::Bytes(id)) => seen.parent = hex(id),
            (5, Field::Bytes(name)) => seen.name = text(name),
            (6, Field::Number(kind)) => seen.kind = kind,
            (7, Field::Number(at)) => seen.began_ns = at,
            (8, Field::Number(at)) => seen.ended_ns = at,
            (9, Field::Bytes(pair)) => seen.attributes.extend([attribute(pair)]),
            (15, Field::Bytes(status)) => seen.error = messages(status, 2).map(text).collect(),
            (other, _) => panic!("a span has no field {other}"),
        }
    }
    seen
}

fn attribute(pair: &[u8]) -> (String, String) {
    let name = messages(pair, 1).map(text).collect();
    let value = messages(pair, 2).flat_map(fields).map(|(_, value)| match value {
        Field::Number(number) => number.to_string(),
        Field::Bytes(bytes) => text(bytes),
    });
    (name, value.collect())
}

fn messages(bytes: &[u8], field: u64) -> impl Iterator<Item = &[u8]> {
    fields(bytes).into_iter().filter_map(move |(number, value)| match value {
        Field::Bytes(inner) if number == field => Some(inner),
        _ => None,
    })
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (number, rest) = bytes.split_first_chunk().expect("eight bytes");
                bytes = rest;
                Field::Number(u64::from_le_bytes(*number))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (inner, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(inner)
            }
            other => panic!("{other} is no kind of field that spans have"),
        };
        fields.push((key >> 3, value));
    }
    fields
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().expect("a number has an end");
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("texts are UTF-8")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A collector that is spoken to by gRPC. Its thread ends with the test.
pub(crate) struct GrpcCollector {
    pub(crate) address: SocketAddr,
    taken: Arc<Mutex<Vec<(String, Bytes)>>>,
}

impl GrpcCollector {
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let taken: Arc<Mutex<Vec<_>>> = Arc::default();
        let kept = Arc::clone(&taken);
        thread::spawn(move || {
            runtime.block_on(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let kept = Arc::clone(&kept);
                    let service = service_fn(move |request| take(request, Arc::clone(&kept)));
                    let served = http2::Builder::new(TokioExecutor::new());
                    tokio::spawn(served.serve_connection(TokioIo::new(stream), service));
                }
            });
        });
        GrpcCollector { address, taken }
    }

    /// All spans so far, once there are this many.
    pub(crate) fn wait_for(&self, count: usize) -> Vec<SpanSeen> {
        wait_until(&format!("{count} spans are collected"), || {
            let taken = self.taken.lock().expect("no thread of it fails");
            let found: Vec<SpanSeen> = taken.iter().flat_map(|(_, message)| spans(message)).collect();
            (found.len() >= count).then_some(found)
        })
    }

    /// The paths that were called.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.taken.lock().expect("no thread of it fails").iter().map(|(path, _)| path.clone()).collect()
    }
}

type Taken = Arc<Mutex<Vec<(String, Bytes)>>>;
type Answered = Response<http_body_util::combinators::BoxBody<Bytes, Infallible>>;

async fn take(request: http::Request<hyper::body::Incoming>, taken: Taken) -> Result<Answered, hyper::Error> {
    assert_eq!(request.headers()["content-type"], "application/grpc");
    assert_eq!(request.headers()["te"], "trailers");
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await?.to_bytes();
    let length = u32::from_be_bytes(body[1..5].try_into().expect("four bytes"));
    assert_eq!((body[0], length as usize), (0, body.len() - 5), "one message that is not compressed");
    taken.lock().expect("no thread of it fails").push((path, body.slice(5..)));
    let trailers =
        HeaderMap::from_iter([(http::HeaderName::from_static("grpc-status"), HeaderValue::from_static("0"))]);
    let answer = Full::new(Bytes::from_static(&[0; 5])).with_trailers(async move { Some(Ok(trailers)) });
    let mut response = Response::new(answer.boxed());
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    Ok(response)
}
