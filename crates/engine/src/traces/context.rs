//! The trace that an event belongs to: what its sender said, if that is legal, else one of its own.

use postrider_core::id::{DeliveryId, EventId};
use postrider_store::Headers;

const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";
/// What is passed on of `tracestate`; the specification asks for no more.
const STATE_BYTES_MAX: usize = 512;
const STATE_MEMBERS_MAX: usize = 32;
/// Version, trace, parent and flags in hexadecimal, and the dashes between them.
const TRACEPARENT_BYTES: usize = 2 + 1 + 32 + 1 + 16 + 1 + 2;
const HEX: &[u8; 16] = b"0123456789abcdef";
/// The only flag that has a meaning for us.
const SAMPLED: u8 = 1;

/// The trace of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceContext {
    pub(crate) trace: [u8; 16],
    /// The sender's span; `None` when the trace begins here.
    pub(crate) parent: Option<[u8; 8]>,
    flags: u8,
    pub(crate) state: Option<String>,
}

impl TraceContext {
    /// What the sender of an event said. What is not legal, or said twice, is as if nothing were.
    pub(crate) fn of(headers: &Headers) -> Option<Self> {
        let mut given = values(headers, TRACEPARENT);
        let (trace, parent, flags) = parse(given.next().filter(|_| given.next().is_none())?)?;
        Some(TraceContext { trace, parent: Some(parent), flags: flags & SAMPLED, state: state(headers) })
    }

    /// One that begins with this event. Which of them are wanted hangs on the trace's id, so all nodes agree.
    pub(crate) fn begun_by(event: EventId, ratio: SampleRatio) -> Self {
        let (high, low) = (mixed(event.as_u64()), mixed(!event.as_u64()));
        let mut trace = [0; 16];
        trace[..8].copy_from_slice(&high.to_be_bytes());
        trace[8..].copy_from_slice(&low.to_be_bytes());
        let flags = if ratio.takes(low) { SAMPLED } else { 0 };
        TraceContext { trace, parent: None, flags, state: None }
    }

    /// Whether its spans are wanted.
    pub(crate) fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Whether receivers are to go on with it: the sender's in any case, one that begins here if its spans are wanted.
    pub(crate) fn is_told(&self) -> bool {
        self.parent.is_some() || self.is_sampled()
    }

    /// What a delivery carries: the same trace, and the attempt as the parent of what the receiver does.
    pub(crate) fn traceparent(&self, span: [u8; 8]) -> String {
        let mut text = String::with_capacity(TRACEPARENT_BYTES);
        for (part, end) in [(&[0][..], "-"), (&self.trace, "-"), (&span, "-"), (&[self.flags], "")] {
            for byte in part {
                text.extend([byte >> 4, byte & 0xf].map(|digit| char::from(HEX[usize::from(digit)])));
            }
            text.push_str(end);
        }
        text
    }
}

/// How many of the traces that begin here are told: those whose id is below a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRatio(f64);

impl SampleRatio {
    /// All of them.
    pub const ALL: SampleRatio = SampleRatio(1.0);

    /// `None` unless it is from 0 to 1.
    pub fn new(ratio: f64) -> Option<Self> {
        (0.0..=1.0).contains(&ratio).then_some(SampleRatio(ratio))
    }

    fn takes(self, id: u64) -> bool {
        // In steps of 2⁻³², which a float tells apart exactly.
        ((id >> 32) as f64) < self.0 * (1_u64 << 32) as f64
    }
}

impl Default for SampleRatio {
    fn default() -> Self {
        SampleRatio::ALL
    }
}

/// The span of taking an event in.
pub(crate) fn span_of_event(event: EventId) -> [u8; 8] {
    mixed(event.as_u64().rotate_left(17)).to_be_bytes()
}

/// The span of an attempt, counted from 1.
pub(crate) fn span_of_attempt(delivery: DeliveryId, number: u32) -> [u8; 8] {
    mixed(delivery.as_u64() ^ mixed(u64::from(number))).to_be_bytes()
}

/// Spreads a number over all bits (the finaliser of SplitMix64), never to zero, which is no legal id.
fn mixed(number: u64) -> u64 {
    let one = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let two = (one ^ (one >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let three = (two ^ (two >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (three ^ (three >> 31)).max(1)
}

fn values<'h>(headers: &'h Headers, name: &'static str) -> impl Iterator<Item = &'h str> {
    headers.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// `version-trace-parent-flags` in lower case. A later version may have more behind it.
fn parse(text: &str) -> Option<([u8; 16], [u8; 8], u8)> {
    let text = text.trim_matches([' ', '\t']);
    if !text.is_ascii() || text.len() < 55 {
        return None;
    }
    let (known, more) = text.split_at(55);
    let mut parts = known.split('-');
    let [version] = bytes(parts.next()?)?;
    let (trace, parent, [flags]) = (bytes(parts.next()?)?, bytes(parts.next()?)?, bytes(parts.next()?)?);
    let ends = if version == 0 { more.is_empty() } else { more.is_empty() || more.starts_with('-') };
    let legal = ends && parts.next().is_none() && version != 0xff && trace != [0; 16] && parent != [0; 8];
    legal.then_some((trace, parent, flags))
}

fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let lower = hex.len() == 2 * N && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate().filter(|_| lower) {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    lower.then_some(bytes)
}

/// All of it, or nothing: half a list would say something else.
fn state(headers: &Headers) -> Option<String> {
    let text = values(headers, TRACESTATE).collect::<Vec<_>>().join(",");
    let members: Vec<&str> = text
        .split(',')
        .map(|member| member.trim_matches([' ', '\t']))
        .filter(|member| !member.is_empty())
        .collect();
    let legal = (1..=STATE_MEMBERS_MAX).contains(&members.len())
        && text.len() <= STATE_BYTES_MAX
        && members.iter().all(|member| is_member(member));
    legal.then(|| members.join(","))
}

fn is_member(member: &str) -> bool {
    let Some((key, value)) = member.split_once('=') else { return false };
    let in_key = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/' | b'@');
    let in_value = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'=' && byte != b',';
    let begins = key.bytes().next().is_some_and(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
    begins && key.bytes().all(in_key) && !value.is_empty() && value.bytes().all(in_value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const PARENT: &str = "b7ad6b7169203331";

    fn of(pairs: &[(&str, &str)]) -> Option<TraceContext> {
        TraceContext::of(&pairs.iter().copied().collect())
    }

    #[test]
    fn a_legal_traceparent_goes_on_with_a_new_span() {
        let context = of(&[("Traceparent", &format!("00-{TRACE}-{PARENT}-01"))]).unwrap();
        assert!(context.is_sampled() && context.parent.map(|parent| hex(&parent)).as_deref() == Some(PARENT));
        let span = span_of_attempt(DeliveryId::from_u64(7), 1);
        assert_eq!(context.traceparent(span), format!("00-{TRACE}-{}-01", hex(&span)));
        assert_ne!(span, span_of_attempt(DeliveryId::from_u64(7), 2));
        let later = of(&[("traceparent", &format!("cc-{TRACE}-{PARENT}-02-what-ever"))]).unwrap();
        assert!(!later.is_sampled(), "of a version that is not known yet the known part counts");
        assert!(later.traceparent(span).ends_with("-00"));
    }

    #[test]
    fn what_is_no_legal_traceparent_is_as_if_it_were_not_there() {
        let good = format!("00-{TRACE}-{PARENT}-01");
        for bad in [
            String::new(),
            good.to_uppercase(),
            good[1..].to_owned(),
            format!("{good}0"),
            format!("{good}-more"),
            good.replacen("00", "ff", 1),
            good.replace(TRACE, &"0".repeat(32)),
            good.replace(PARENT, &"0".repeat(16)),
            good.replace('-', "_"),
            format!("00-{TRACE}-{PARENT}-0g"),
            "ä".repeat(40),
        ] {
            assert_eq!(of(&[("traceparent", &bad)]), None, "{bad}");
        }
        assert_eq!(of(&[("traceparent", &good), ("traceparent", &good)]), None, "said twice");
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn tracestate_goes_on_whole_or_not_at_all() {
        let good = format!("00-{TRACE}-{PARENT}-01");
        let state = |values: &[&str]| {
            let mut pairs = vec![("traceparent", good.as_str())];
            pairs.extend(values.iter().map(|value| ("tracestate", *value)));
            of(&pairs).unwrap().state
        };
        assert_eq!(state(&["a=1, b@c=two,"]).as_deref(), Some("a=1,b@c=two"));
        assert_eq!(state(&["a=1", "b=2"]).as_deref(), Some("a=1,b=2"));
        let long = format!("a={}", "x".repeat(600));
        let many = vec!["a=1"; 33].join(",");
        for bad in ["", "a", "=1", "A=1", "a=1,b", "a=\u{e9}", "a=1=2", &long, &many] {
            assert_eq!(state(&[bad]), None, "{bad}");
        }
    }

    #[test]
    fn a_trace_of_its_own_is_the_same_every_time() {
        let begun = |event| TraceContext::begun_by(EventId::from_u64(event), SampleRatio::ALL);
        let (one, other) = (begun(1), begun(2));
        assert_eq!(one, begun(1));
        assert!(one.trace != other.trace && one.is_sampled() && one.parent.is_none());
    }

    #[test]
    fn of_the_traces_that_begin_here_so_many_are_told() {
        let told = |ratio: f64| {
            let ratio = SampleRatio::new(ratio).unwrap();
            let begun = (0..10_000).map(|event| TraceContext::begun_by(EventId::from_u64(event), ratio));
            begun.filter(TraceContext::is_told).count()
        };
        assert_eq!((told(0.0), told(1.0)), (0, 10_000));
        assert!((900..1100).contains(&told(0.1)), "{}", told(0.1));
        for bad in [-0.1, 1.1, f64::NAN] {
            assert_eq!(SampleRatio::new(bad), None);
        }
    }

    #[test]
    fn what_a_sender_has_not_sampled_is_passed_on_all_the_same() {
        let context = of(&[("traceparent", &format!("00-{TRACE}-{PARENT}-00"))]).unwrap();
        assert!(context.is_told() && !context.is_sampled());
    }

    proptest! {
        #[test]
        fn any_headers_are_a_context_or_none(parent in any::<String>(), state in any::<String>()) {
            if let Some(context) = of(&[("traceparent", &parent), ("tracestate", &state)]) {
                let state = context.state.as_deref().unwrap_or_default();
                prop_assert!(http::HeaderValue::from_str(state).is_ok());
            }
        }

        #[test]
        fn what_is_passed_on_is_legal(trace in any::<[u8; 16]>(), parent in any::<[u8; 8]>(), flags: u8) {
            let text = format!("00-{}-{}-{flags:02x}", hex(&trace), hex(&parent));
            if let Some(context) = of(&[("traceparent", &text)]) {
                let passed_on = context.traceparent([1; 8]);
                let again = of(&[("traceparent", &passed_on)]).unwrap();
                prop_assert_eq!((again.trace, again.is_sampled()), (trace, flags & 1 == 1));
            }
        }
    }
}
