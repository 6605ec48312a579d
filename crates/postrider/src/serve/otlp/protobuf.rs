//! Spans as OTLP has them in protobuf (opentelemetry-proto 1.x, `trace/v1/trace.proto`). Written by hand: it is eight
//! small messages that do not change, and the crates for it would bring a second HTTP client and a gRPC stack.

use postrider_engine::{Span, SpanKind, SpanValue};

/// A request to a collector: `ExportTraceServiceRequest`.
pub(super) fn request(spans: &[Span], node: &str) -> Vec<u8> {
    let mut request = Vec::with_capacity(spans.len() * 256);
    message(&mut request, 1, |resource_spans| {
        message(resource_spans, 1, |resource| {
            attribute(resource, 1, "service.name", &SpanValue::Text("postrider".to_owned()));
            let version = SpanValue::Text(env!("CARGO_PKG_VERSION").to_owned());
            attribute(resource, 1, "service.version", &version);
            attribute(resource, 1, "service.instance.id", &SpanValue::Text(node.to_owned()));
        });
        message(resource_spans, 2, |scope_spans| {
            message(scope_spans, 1, |scope| bytes(scope, 1, b"postrider"));
            spans.iter().for_each(|of| message(scope_spans, 2, |into| span(into, of)));
        });
    });
    request
}

fn span(into: &mut Vec<u8>, span: &Span) {
    bytes(into, 1, &span.trace);
    bytes(into, 2, &span.id);
    if let Some(state) = &span.state {
        bytes(into, 3, state.as_bytes());
    }
    if let Some(parent) = &span.parent {
        bytes(into, 4, parent);
    }
    bytes(into, 5, span.name.as_bytes());
    number(into, 6, kind(span.kind));
    let began = span.started_at.unix_ms().saturating_mul(1_000_000);
    fixed(into, 7, began);
    fixed(into, 8, began.saturating_add(u64::try_from(span.took.as_nanos()).unwrap_or(u64::MAX)));
    span.attributes.iter().for_each(|(name, value)| attribute(into, 9, name, value));
    if let Some(error) = &span.error {
        message(into, 15, |status| {
            bytes(status, 2, error.as_bytes());
            number(status, 3, STATUS_ERROR);
        });
    }
}

const STATUS_ERROR: u64 = 2;

const fn kind(kind: SpanKind) -> u64 {
    match kind {
        SpanKind::Server => 2,
        SpanKind::Client => 3,
    }
}

/// A `KeyValue`.
fn attribute(into: &mut Vec<u8>, field: u64, name: &str, value: &SpanValue) {
    message(into, field, |pair| {
        bytes(pair, 1, name.as_bytes());
        message(pair, 2, |any| match value {
            SpanValue::Text(text) => bytes(any, 1, text.as_bytes()),
            // A negative number has all its bits, as protobuf wants it.
            SpanValue::Number(value) => number(any, 3, value.cast_unsigned()),
        });
    });
}

fn message(into: &mut Vec<u8>, field: u64, fill: impl FnOnce(&mut Vec<u8>)) {
    let mut inner = Vec::new();
    fill(&mut inner);
    bytes(into, field, &inner);
}

fn bytes(into: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(into, field << 3 | 2);
    varint(into, value.len() as u64);
    into.extend_from_slice(value);
}

fn number(into: &mut Vec<u8>, field: u64, value: u64) {
    varint(into, field << 3);
    varint(into, value);
}

fn fixed(into: &mut Vec<u8>, field: u64, value: u64) {
    varint(into, field << 3 | 1);
    into.extend_from_slice(&value.to_le_bytes());
}

fn varint(into: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        into.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_protobuf_has_them() {
        for (value, expected) in [(0, &[0][..]), (1, &[1]), (127, &[127]), (128, &[128, 1]), (300, &[172, 2])]
        {
            let mut written = Vec::new();
            varint(&mut written, value);
            assert_eq!(written, expected);
        }
        let mut written = Vec::new();
        varint(&mut written, u64::MAX);
        assert_eq!((written.len(), written[9]), (10, 1));
    }

    #[test]
    fn a_message_is_its_field_its_length_and_its_bytes() {
        let mut written = Vec::new();
        attribute(&mut written, 9, "a", &SpanValue::Number(5));
        assert_eq!(written, [74, 7, 10, 1, b'a', 18, 2, 24, 5]);
        let mut written = Vec::new();
        fixed(&mut written, 7, 1);
        assert_eq!(written, [57, 1, 0, 0, 0, 0, 0, 0, 0]);
    }
}
