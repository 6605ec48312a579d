//! Which addresses may be dialled: global unicast, and what the operator has opened. Never the gateway itself.
//!
//! The check stands in the connector, on the very address that is dialled, so that a name that resolves
//! differently a moment later (rebinding) gains nothing.

use super::target::DestinationUrl;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// The rule of one gateway.
#[derive(Clone, Debug, Default)]
pub struct AddressGuard {
    allowed: Vec<IpNet>,
    /// Where the gateway listens: an event that it sends there comes back for ever.
    own: Vec<SocketAddr>,
    schemes: Schemes,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Schemes {
    #[default]
    Any,
    HttpsOnly,
}

/// Why something is not dialled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Plain http, where the operator wants https.
    Plain,
    /// Not a global address, and not opened.
    Closed(IpAddr),
    /// The gateway itself.
    Own(SocketAddr),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Plain => {
                f.write_str("must begin with https://: this gateway sends to nothing else (--https-only)")
            }
            Refusal::Closed(address) => write!(
                f,
                "points to {address}, which is not open to deliveries; an operator can open its range with --egress-allow"
            ),
            Refusal::Own(address) => {
                write!(
                    f,
                    "points to {address}, which is this gateway itself: its events would come back for ever"
                )
            }
        }
    }
}

const fn v4(a: u8, b: u8, c: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, 0), prefix)
}

const fn v6(a: u16, b: u16, c: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), prefix)
}

/// Everything in IPv4 that is not global unicast.
const CLOSED_V4: [Ipv4Net; 15] = [
    v4(0, 0, 0, 8),
    v4(10, 0, 0, 8),
    v4(100, 64, 0, 10),
    v4(127, 0, 0, 8),
    v4(169, 254, 0, 16),
    v4(172, 16, 0, 12),
    v4(192, 0, 0, 24),
    v4(192, 0, 2, 24),
    v4(192, 88, 99, 24),
    v4(192, 168, 0, 16),
    v4(198, 18, 0, 15),
    v4(198, 51, 100, 24),
    v4(203, 0, 113, 24),
    v4(224, 0, 0, 4),
    v4(240, 0, 0, 4),
];

/// Everything in IPv6 that is not global unicast. `::/8` covers loopback, v4-mapped and v4-compatible.
const CLOSED_V6: [Ipv6Net; 13] = [
    v6(0, 0, 0, 8),
    v6(0x64, 0xff9b, 1, 48),
    v6(0x100, 0, 0, 64),
    Ipv6Net::new_assert(Ipv6Addr::new(0x100, 0, 0, 1, 0, 0, 0, 0), 64),
    v6(0x2001, 0, 0, 23),
    v6(0x2001, 0xdb8, 0, 32),
    v6(0x2002, 0, 0, 16),
    v6(0x3fff, 0, 0, 20),
    v6(0x5f00, 0, 0, 16),
    v6(0xfc00, 0, 0, 7),
    v6(0xfe80, 0, 0, 10),
    v6(0xfec0, 0, 0, 10),
    v6(0xff00, 0, 0, 8),
];

/// NAT64: the address meant is the IPv4 one inside.
const NAT64: Ipv6Net = v6(0x64, 0xff9b, 0, 96);
/// Other forms of an IPv4 address: compatible, mapped, and translated by SIIT.
const OTHER_FORMS_OF_V4: [Ipv6Net; 3] = [
    v6(0, 0, 0, 96),
    Ipv6Net::new_assert(Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96),
    Ipv6Net::new_assert(Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96),
];

impl AddressGuard {
    /// Opens these ranges beside the global ones.
    pub fn new(allowed: Vec<IpNet>) -> Self {
        AddressGuard { allowed, ..AddressGuard::default() }
    }

    /// Closes the address that the gateway listens on, whatever ranges are open.
    pub fn listening_on(mut self, own: SocketAddr) -> Self {
        self.own.push(own);
        self
    }

    /// Closes plain http.
    pub fn https_only(self) -> Self {
        AddressGuard { schemes: Schemes::HttpsOnly, ..self }
    }

    /// What can be said of a URL before its name is looked up.
    pub fn check_url(&self, url: &DestinationUrl) -> Result<(), Refusal> {
        self.check_scheme(url)?;
        url.literal_address().map_or(Ok(()), |address| self.check(SocketAddr::new(address, url.port)))
    }

    pub(crate) fn check_scheme(&self, url: &DestinationUrl) -> Result<(), Refusal> {
        match self.schemes {
            Schemes::HttpsOnly if !url.tls => Err(Refusal::Plain),
            Schemes::HttpsOnly | Schemes::Any => Ok(()),
        }
    }

    /// Whether an address may be dialled.
    pub fn check(&self, address: SocketAddr) -> Result<(), Refusal> {
        let ip = address.ip();
        if !self.is_open(ip) {
            return Err(Refusal::Closed(ip));
        }
        let is_own = |own: &SocketAddr| own.port() == address.port() && reaches(own.ip(), ip);
        if self.own.iter().any(is_own) { Err(Refusal::Own(address)) } else { Ok(()) }
    }

    /// Whoever opens a range of IPv6 opens no IPv4 address with it that is written as one of IPv6.
    fn is_open(&self, address: IpAddr) -> bool {
        let is_opened = || self.allowed.iter().any(|range| range.contains(&address));
        match address {
            IpAddr::V6(v6) if NAT64.contains(&v6) => self.is_open(inner_v4(v6)),
            IpAddr::V6(v6) if is_form_of_v4(v6) => is_opened() && self.is_open(inner_v4(v6)),
            _ => !is_closed(address) || is_opened(),
        }
    }
}

/// Whether dialling an address reaches a socket that listens on `own`.
fn reaches(own: IpAddr, dialled: IpAddr) -> bool {
    // Linux takes a dial of "any address" for one of loopback.
    let dialled = match dialled.to_canonical() {
        IpAddr::V4(address) if address.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(address) if address.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        other => other,
    };
    match own.to_canonical() {
        IpAddr::V4(own) if own.is_unspecified() => dialled.is_ipv4() && is_local(dialled),
        IpAddr::V6(own) if own.is_unspecified() => is_local(dialled),
        own => own == dialled,
    }
}

/// An address is this machine's when a socket can be bound to it.
fn is_local(address: IpAddr) -> bool {
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok()
}

fn is_form_of_v4(address: Ipv6Addr) -> bool {
    !address.is_loopback()
        && !address.is_unspecified()
        && OTHER_FORMS_OF_V4.iter().any(|range| range.contains(&address))
}

fn inner_v4(address: Ipv6Addr) -> IpAddr {
    let [.., a, b, c, d] = address.octets();
    IpAddr::V4(Ipv4Addr::new(a, b, c, d))
}

fn is_closed(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => CLOSED_V4.iter().any(|range| range.contains(&address)),
        IpAddr::V6(address) => CLOSED_V6.iter().any(|range| range.contains(&address)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl AddressGuard {
        fn allows(&self, address: IpAddr) -> bool {
            self.check(SocketAddr::new(address, 80)).is_ok()
        }
    }

    #[test]
    fn only_global_addresses_are_open() {
        let guard = AddressGuard::default();
        for closed in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::7f00:1",
            "64:ff9b::7f00:1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "100::1",
            "100:0:0:1::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!guard.allows(closed.parse().unwrap()), "{closed} must be closed");
        }
        for open in ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::8.8.8.8"]
        {
            assert!(guard.allows(open.parse().unwrap()), "{open} must be open");
        }
    }

    #[test]
    fn an_operator_opens_ranges() {
        let guard = AddressGuard::new(vec!["127.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()]);
        assert!(guard.allows("127.0.0.1".parse().unwrap()));
        assert!(guard.allows("fd12::1".parse().unwrap()));
        assert!(!guard.allows("10.0.0.1".parse().unwrap()));
        assert!(!guard.allows("::1".parse().unwrap()));
    }

    #[test]
    fn a_range_of_ipv6_opens_no_ipv4_address_in_another_form() {
        let forms = ["::ffff:127.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1"];
        let allows = |ranges: &[&str], address: &str| {
            let ranges = ranges.iter().map(|range| range.parse().unwrap()).collect();
            AddressGuard::new(ranges).allows(address.parse().unwrap())
        };
        for form in forms {
            assert!(!allows(&["::/0"], form), "{form}");
            assert!(!allows(&["::/0", "10.0.0.0/8"], form), "{form}");
            assert!(allows(&["::/0", "127.0.0.0/8"], form), "{form}");
        }
        assert!(
            allows(&["::/0"], "::1") && allows(&["::/0"], "fd00::1") && allows(&["::/0"], "::ffff:8.8.8.8")
        );
        assert!(allows(&["10.0.0.0/8"], "64:ff9b::10.0.0.1"), "NAT64 leads to what is open in IPv4");
    }

    #[test]
    fn the_gateway_itself_is_closed_however_it_is_spelt() {
        let everything = vec!["0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap()];
        let refused = |own: &str, dialled: &str| {
            let guard = AddressGuard::new(everything.clone()).listening_on(own.parse().unwrap());
            let dialled = dialled.parse().unwrap();
            guard.check(dialled).is_err_and(|refusal| refusal == Refusal::Own(dialled))
        };
        for (own, dialled) in [
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("127.0.0.1:8080", "0.0.0.0:8080"),
            ("127.0.0.1:8080", "[::ffff:127.0.0.1]:8080"),
            ("[::1]:8080", "[::]:8080"),
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("0.0.0.0:8080", "127.9.9.9:8080"),
            ("[::]:8080", "127.0.0.1:8080"),
            ("[::]:8080", "[::1]:8080"),
        ] {
            assert!(refused(own, dialled), "{dialled} is {own}");
        }
        for (own, dialled) in [
            ("127.0.0.1:8080", "127.0.0.1:8081"),
            ("127.0.0.1:8080", "127.0.0.2:8080"),
            ("0.0.0.0:8080", "8.8.8.8:8080"),
            ("[::]:8080", "[2606:4700::1111]:8080"),
        ] {
            assert!(!refused(own, dialled), "{dialled} is not {own}");
        }
    }

    #[test]
    fn the_whole_of_every_closed_range_is_closed_and_nothing_beside_it() {
        let guard = AddressGuard::default();
        for range in CLOSED_V4 {
            assert!(
                !guard.allows(range.network().into()) && !guard.allows(range.broadcast().into()),
                "{range}"
            );
        }
        for range in CLOSED_V6 {
            let (first, last) = (range.network(), range.broadcast());
            assert!(!guard.allows(first.into()) && !guard.allows(last.into()), "{range}");
        }
        for beside in [
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "2001:200::",
            "2001:db7:ffff::",
            "2001:db9::",
            "2003::",
            "3ffe:ffff::",
            "2000::1",
        ] {
            assert!(guard.allows(beside.parse().unwrap()), "{beside} is global");
        }
    }
}
