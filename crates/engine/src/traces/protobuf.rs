//! OTLP's messages in protobuf (opentelemetry-proto 1.x, `trace/v1/trace.proto`), written straight into the bytes that
//! leave. By hand: it is eight small messages that do not change, and the crates for it would bring a second HTTP client
//! and a gRPC stack.

/// A length that is filled in later takes as many bytes, whatever it is. Readers of protobuf take such numbers.
const LENGTH_BYTES: usize = 3;
const LENGTH_MAX: usize = (1 << (7 * LENGTH_BYTES)) - 1;

/// What stands before spans that are written already in a request to a collector (`ExportTraceServiceRequest`), when
/// they take so many bytes. Nothing stands behind them, so they need not be moved.
pub fn trace_request_head(span_bytes: usize, node: &str) -> Vec<u8> {
    let mut resource = Vec::new();
    text(&mut resource, 1, "service.name", "postrider");
    text(&mut resource, 1, "service.version", env!("CARGO_PKG_VERSION"));
    text(&mut resource, 1, "service.instance.id", node);
    let mut scope = Vec::new();
    bytes(&mut scope, 1, b"postrider");
    let mut scope_spans = Vec::new();
    bytes(&mut scope_spans, 1, &scope);
    let mut resource_spans = Vec::new();
    bytes(&mut resource_spans, 1, &resource);
    announced(&mut resource_spans, 2, scope_spans.len() + span_bytes);
    resource_spans.extend(scope_spans);
    let mut request = Vec::new();
    announced(&mut request, 1, resource_spans.len() + span_bytes);
    request.extend(resource_spans);
    request
}

/// The field and the length of something that is yet to come.
fn announced(into: &mut Vec<u8>, field: u64, length: usize) {
    varint(into, field << 3 | 2);
    varint(into, length as u64);
}

/// A `KeyValue` with a text.
pub(super) fn text(into: &mut Vec<u8>, field: u64, name: &str, value: &str) {
    text_of(into, field, name, value.len(), |into| into.extend_from_slice(value.as_bytes()));
}

/// The same with a text of so many bytes that is written in place.
pub(super) fn text_of(
    into: &mut Vec<u8>,
    field: u64,
    name: &str,
    length: usize,
    write: impl FnOnce(&mut Vec<u8>),
) {
    pair(into, field, name, 1 + varint_bytes(length as u64) + length);
    announced(into, 1, length);
    let begins_at = into.len();
    write(into);
    debug_assert_eq!(into.len() - begins_at, length, "its length was told before it");
}

/// A `KeyValue` with a number. A negative one has all its bits, as protobuf wants it.
pub(super) fn integer(into: &mut Vec<u8>, field: u64, name: &str, value: i64) {
    pair(into, field, name, 1 + varint_bytes(value.cast_unsigned()));
    number(into, 3, value.cast_unsigned());
}

/// A `KeyValue` up to its value, which takes so many bytes.
fn pair(into: &mut Vec<u8>, field: u64, name: &str, value_bytes: usize) {
    let key_bytes = 1 + varint_bytes(name.len() as u64) + name.len();
    announced(into, field, key_bytes + 1 + varint_bytes(value_bytes as u64) + value_bytes);
    bytes(into, 1, name.as_bytes());
    announced(into, 2, value_bytes);
}

/// Something whose length is known once it is written.
pub(super) fn delimited(into: &mut Vec<u8>, field: u64, fill: impl FnOnce(&mut Vec<u8>)) {
    varint(into, field << 3 | 2);
    let length_at = into.len();
    into.extend_from_slice(&[0; LENGTH_BYTES]);
    fill(into);
    let length = into.len() - length_at - LENGTH_BYTES;
    assert!(length <= LENGTH_MAX, "what a span tells is bounded");
    for (place, byte) in into[length_at..length_at + LENGTH_BYTES].iter_mut().enumerate() {
        let more = if place + 1 < LENGTH_BYTES { 0x80 } else { 0 };
        *byte = (length >> (7 * place) & 0x7f) as u8 | more;
    }
}

pub(super) fn bytes(into: &mut Vec<u8>, field: u64, value: &[u8]) {
    announced(into, field, value.len());
    into.extend_from_slice(value);
}

pub(super) fn number(into: &mut Vec<u8>, field: u64, value: u64) {
    varint(into, field << 3);
    varint(into, value);
}

pub(super) fn fixed(into: &mut Vec<u8>, field: u64, value: u64) {
    varint(into, field << 3 | 1);
    into.extend_from_slice(&value.to_le_bytes());
}

/// How long a number is when it is written.
fn varint_bytes(value: u64) -> usize {
    (u64::BITS - (value | 1).leading_zeros()).div_ceil(7) as usize
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

    fn bytes_of(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes);
        bytes
    }

    #[test]
    fn numbers_are_written_as_protobuf_has_them() {
        for (value, expected) in [(0, &[0][..]), (1, &[1]), (127, &[127]), (128, &[128, 1]), (300, &[172, 2])]
        {
            assert_eq!(bytes_of(|into| varint(into, value)), expected);
        }
        for value in (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1]).chain([u64::MAX]) {
            assert_eq!(varint_bytes(value), bytes_of(|into| varint(into, value)).len(), "{value}");
        }
        let most = bytes_of(|into| varint(into, u64::MAX));
        assert_eq!((most.len(), most[9]), (10, 1));
        assert_eq!(bytes_of(|into| fixed(into, 7, 1)), [57, 1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn what_is_delimited_has_its_field_its_length_and_its_bytes() {
        assert_eq!(bytes_of(|into| integer(into, 9, "a", 5)), [74, 7, 10, 1, b'a', 18, 2, 24, 5]);
        let expected = [74, 10, 10, 1, b'a', 18, 5, 10, 3, b'x', b'y', b'z'];
        assert_eq!(bytes_of(|into| text(into, 9, "a", "xyz")), expected);
        let long = bytes_of(|into| text(into, 9, "a", &"x".repeat(300)));
        assert_eq!(&long[..12], [74, 0x80 | 53, 2, 10, 1, b'a', 18, 0x80 | 47, 2, 10, 0x80 | 44, 2]);
        let long = bytes_of(|into| delimited(into, 1, |inner| inner.extend([b'x'; 300])));
        assert_eq!((&long[..4], long.len()), (&[10, 0x80 | 44, 0x80 | 2, 0][..], 304));
    }

    /// Reads a field that is delimited; gives what is in it and what is behind it.
    fn field(bytes: &[u8], number: u8) -> (&[u8], &[u8]) {
        assert_eq!(bytes[0], number << 3 | 2);
        let digits = bytes[1..].iter().take_while(|byte| **byte >= 0x80).count() + 1;
        let length = bytes[1..=digits].iter().rev().fold(0, |sum, byte| sum << 7 | usize::from(byte & 0x7f));
        bytes[1 + digits..].split_at(length)
    }

    #[test]
    fn a_request_is_its_head_and_then_its_spans() {
        let spans = [b's'; 1000];
        let request = [trace_request_head(spans.len(), "node-1"), spans.to_vec()].concat();
        let (resource_spans, rest) = field(&request, 1);
        assert_eq!(rest, b"");
        let (resource, behind) = field(resource_spans, 1);
        assert!(resource.windows(6).any(|part| part == b"node-1"));
        let (scope_spans, rest) = field(behind, 2);
        assert_eq!(rest, b"");
        assert_eq!(field(scope_spans, 1).1, spans);
    }
}
