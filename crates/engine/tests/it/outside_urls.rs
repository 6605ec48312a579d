//! No text breaks the parser of destination URLs, what is parsed is what is dialled, and no spelling of a closed
//! address gets past the guard.

use postrider_engine::send::{AddressGuard, DestinationUrl};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "(https?|ftp|HTTP)?:?//?[a-z0-9@:.\\[\\]%\\\\-]{0,20}(:[0-9]{0,6})?(/[ -~é]{0,20})?(\\?[ -~]{0,10})?(#[ -~]{0,5})?",
        "https?://[ -~]{0,40}",
    ]
}

/// An IPv4 address as browsers and C libraries also take it: by fewer parts, in octal, in hexadecimal.
fn spelling(address: Ipv4Addr, how: u8) -> String {
    let (whole, [a, b, c, d]) = (u32::from(address), address.octets());
    match how % 8 {
        0 => address.to_string(),
        1 => whole.to_string(),
        2 => format!("0x{whole:x}"),
        3 => format!("{a}.{}", whole & 0xff_ffff),
        4 => format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        5 => format!("0x{a:x}.{b}.0x{c:x}.{d}."),
        6 => format!("[::ffff:{address}]"),
        _ => format!("[64:ff9b::{address}]"),
    }
}

fn is_open(address: IpAddr) -> bool {
    AddressGuard::default().check(SocketAddr::new(address, 80)).is_ok()
}

proptest! {
    #[test]
    fn what_is_parsed_is_what_is_sent(text in text()) {
        let Ok(url) = DestinationUrl::parse(&text) else { return Ok(()) };
        let again = DestinationUrl::parse(&url.whole.to_string());
        let again = again.unwrap_or_else(|bad| panic!("{text:?} became {}, which {bad}", url.whole));
        prop_assert_eq!(again.origin(), url.origin());
        prop_assert_eq!(again.path.to_string(), url.path.to_string());
        prop_assert!(url.path.to_string().starts_with('/'));
        prop_assert!(!url.authority.as_bytes().contains(&b'@'), "{:?}", url.authority);
    }

    #[test]
    fn no_spelling_opens_a_closed_address(address in any::<u32>().prop_map(Ipv4Addr::from), how in any::<u8>()) {
        let url = format!("http://{}/", spelling(address, how));
        let url = DestinationUrl::parse(&url).unwrap_or_else(|bad| panic!("{url} {bad}"));
        let dialled = url.literal_address();
        prop_assert!(dialled.is_some(), "{} is taken for a name", url.host);
        let open = is_open(IpAddr::V4(address));
        prop_assert!(open || !dialled.is_some_and(is_open), "{}", url.whole);
    }

    #[test]
    fn a_private_address_is_closed(a in prop::sample::select(&[10u8, 127, 0][..]), rest in any::<[u8; 3]>(), how in any::<u8>()) {
        let address = Ipv4Addr::new(a, rest[0], rest[1], rest[2]);
        let url = DestinationUrl::parse(&format!("http://{}/", spelling(address, how))).unwrap();
        prop_assert!(!is_open(url.literal_address().unwrap()), "{}", url.whole);
    }
}
