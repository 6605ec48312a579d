//! Addresses of this machine that nobody else uses, so that no test ever talks to another test's process.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};

/// Addresses for one test binary. 127.0.0.0/8 has room for 4,096 binaries at once.
const PER_PROCESS: u32 = 1 << 12;

/// Below the ports that the system hands out by itself, so that none of those can come in between.
const PORTS: std::ops::Range<u16> = 7070..7170;

/// A fresh address out of 127.0.0.0/8 with a port that is free.
///
/// A gateway that is killed comes back at the same address. On 127.0.0.1 another test could have taken the port.
pub fn fresh() -> SocketAddr {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    assert!(number < PER_PROCESS, "out of addresses");
    let host = (std::process::id().wrapping_mul(PER_PROCESS) | number) & 0x00ff_ffff;
    let ip = Ipv4Addr::from_bits((127 << 24) | host);
    // Taken only by a process that listens on all addresses at once. It is not tried by listening there: whatever another
    // thread starts meanwhile has a copy of that socket for a moment, and the address would be in use.
    let free =
        PORTS.map(|port| SocketAddr::from((ip, port))).find(|address| TcpStream::connect(address).is_err());
    free.expect("every address in 127.0.0.0/8 is this machine on Linux")
}
