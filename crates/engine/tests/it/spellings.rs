//! Every way to write a closed address that a URL parser understands: refused when saved and when dialled.

use crate::gateway::Setup;
use crate::receiver::{OK, Receiver};
use postrider_engine::send::{AddressGuard, DestinationUrl};
use postrider_store::ErrorKind;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

/// A number as C reads numbers.
fn radices(number: u32) -> [String; 5] {
    [
        format!("{number}"),
        format!("0{number:o}"),
        format!("000{number:o}"),
        format!("0x{number:x}"),
        format!("0X000{number:X}"),
    ]
}

/// All numbers of an address, each written in every way, joined by dots.
fn joined(numbers: &[u32]) -> Vec<String> {
    let join = |prefixes: Vec<String>, number: &u32| {
        let mut longer = Vec::new();
        for prefix in &prefixes {
            let dot = if prefix.is_empty() { "" } else { "." };
            longer.extend(radices(*number).map(|text| format!("{prefix}{dot}{text}")));
        }
        longer
    };
    numbers.iter().fold(vec![String::new()], join)
}

/// The last number of a short form stands for all bytes that are left.
fn numeric(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets().map(u32::from);
    let forms: [&[u32]; 4] =
        [&[u32::from(address)], &[a, (b << 16) | (c << 8) | d], &[a, b, (c << 8) | d], &[a, b, c, d]];
    forms.into_iter().flat_map(joined).collect()
}

fn mapped(text: &str, digit: impl Fn(u32) -> char) -> String {
    text.chars().map(|letter| letter.to_digit(10).map_or(letter, &digit)).collect()
}

fn in_disguise(address: Ipv4Addr) -> Vec<String> {
    let plain = address.to_string();
    let circled = |n| if n == 0 { '⓪' } else { char::from_u32(0x2460 + n - 1).unwrap() };
    let full_width = |n| char::from_u32(0xff10 + n).unwrap();
    let percent: String = plain.bytes().map(|byte| format!("%{byte:02x}")).collect();
    vec![
        mapped(&plain, circled),
        mapped(&plain, full_width),
        plain.replace('.', "。"),
        plain.replace('.', "．"),
        plain.replace('.', "｡"),
        plain.replace('.', "%2e"),
        plain.replace('.', "%E3%80%82"),
        plain.replacen('1', "%31", 1),
        percent,
        format!("{plain}."),
        format!("{}.", u32::from(address)),
        format!("\t{plain}"),
        plain.replacen('.', ".\n", 1),
        format!("{}\u{ad}", plain),
    ]
}

fn in_v6(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    [
        format!("::ffff:{address}"),
        format!("::FFFF:{high:x}:{low:x}"),
        format!("0:0:0:0:0:ffff:{address}"),
        format!("0000:0000:0000:0000:0000:ffff:{high:04x}:{low:04X}"),
        format!("::{address}"),
        format!("::{high:x}:{low:x}"),
        format!("::ffff:0:{address}"),
        format!("64:ff9b::{address}"),
        format!("64:ff9b:0:0:0:0:{high:x}:{low:x}"),
        format!("64:ff9b:1::{address}"),
        format!("2002:{high:x}:{low:x}::"),
        format!("2002:{high:x}:{low:x}::1"),
    ]
    .map(|text| format!("[{text}]"))
    .to_vec()
}

const CLOSED: [&str; 5] = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.1"];
const OTHERS: [&str; 14] = [
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[fe80::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fec0::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[100::1]",
    "0",
    "0.0.0.0",
    "0x0",
];

fn hosts() -> BTreeSet<String> {
    let mut hosts: BTreeSet<String> = OTHERS.iter().map(|host| (*host).to_owned()).collect();
    for address in CLOSED {
        let address = address.parse().unwrap();
        hosts.extend(in_disguise(address).into_iter().chain(in_v6(address)));
        hosts.extend(numeric(address));
    }
    hosts
}

/// URLs that show one host to a hasty reader and mean another. `CANARY` is host and port.
const TRICKS: [&str; 9] = [
    "http://example.com@CANARY/",
    "http://example.com:80@CANARY/",
    "http://user:password@CANARY/",
    "http://%65xample.com%2f@CANARY/",
    "http://CANARY\\@example.invalid/",
    "http://CANARY?@example.invalid/",
    "http://CANARY#@example.invalid/",
    "http:\\\\CANARY/",
    "hTTp://CANARY/",
];

#[test]
fn no_spelling_of_a_closed_address_can_be_saved() {
    let guard = AddressGuard::default();
    let hosts = hosts();
    assert!(hosts.len() > 3000, "{} spellings", hosts.len());
    for host in &hosts {
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://{host}:8080/hook");
            let refused = match DestinationUrl::parse(&url) {
                Ok(parsed) => guard.check_url(&parsed).is_err(),
                Err(_) => true,
            };
            assert!(refused, "{url:?}");
        }
    }
}

#[tokio::test]
async fn no_spelling_of_this_machine_is_dialled() {
    let canary = Receiver::answering([OK]).await;
    let gateway = Setup { guard: AddressGuard::default(), ..Setup::default() }.start().await;
    let of_loopback: BTreeSet<String> =
        hosts().into_iter().filter(|host| !host.starts_with("0X") && !host.contains("000")).collect();
    let urls = of_loopback.iter().map(|host| format!("http://{host}:{}/", canary.port()));
    let tricks = TRICKS.iter().map(|trick| trick.replace("CANARY", &format!("127.0.0.1:{}", canary.port())));
    let names = ["localhost", "LOCALHOST"].map(|name| format!("http://{name}:{}/", canary.port()));
    let mut destination = gateway.destination("");
    let mut dialled = 0;
    for url in urls.chain(tricks).chain(names) {
        // Saved past every check, as a database that somebody edited would have it.
        destination.url = url.clone();
        gateway.put(&destination).await;
        let report = gateway.try_out(&destination).await;
        let problem = report.problem.unwrap();
        let expected = match DestinationUrl::parse(&url) {
            Ok(_) => ErrorKind::AddressRefused,
            Err(_) => ErrorKind::BadRequest,
        };
        assert_eq!((problem.kind, report.timing.connect), (expected, None), "{url:?}: {problem}");
        dialled += 1;
    }
    assert!(dialled > 500, "{dialled} spellings");
    assert_eq!(canary.connections(), 0);
}
