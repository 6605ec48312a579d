//! Which addresses may be dialled: global unicast, and what the operator has opened.
//!
//! The check stands in the connector, on the very address that is dialled, so that a name that resolves
//! differently a moment later (rebinding) gains nothing.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The rule of one gateway.
#[derive(Clone, Debug, Default)]
pub struct AddressGuard {
    allowed: Vec<IpNet>,
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
const CLOSED_V6: [Ipv6Net; 12] = [
    v6(0, 0, 0, 8),
    v6(0x64, 0xff9b, 1, 48),
    v6(0x100, 0, 0, 64),
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

impl AddressGuard {
    /// Opens these ranges beside the global ones.
    pub fn new(allowed: Vec<IpNet>) -> Self {
        AddressGuard { allowed }
    }

    /// Whether an address may be dialled.
    pub fn allows(&self, address: IpAddr) -> bool {
        self.allowed.iter().any(|range| range.contains(&address)) || !is_closed(address)
    }
}

fn is_closed(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => CLOSED_V4.iter().any(|range| range.contains(&address)),
        IpAddr::V6(address) if NAT64.contains(&address) => {
            let [.., a, b, c, d] = address.octets();
            is_closed(IpAddr::V4(Ipv4Addr::new(a, b, c, d)))
        }
        IpAddr::V6(address) => CLOSED_V6.iter().any(|range| range.contains(&address)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
