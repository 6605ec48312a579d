//! What this node has run out of. It says nothing of a receiver: an attempt that cannot be begun for want of it is none.

use postrider_store::Problem;
use rustix::io::Errno;
use std::io;
use std::net::{SocketAddr, UdpSocket};

/// A lookup opens files and sockets one after the other, some of them beside each other, and others take descriptors
/// meanwhile.
const LOOKUP_DESCRIPTORS: usize = 4;

/// What there is none left of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Shortage {
    /// Of the process or of the machine.
    #[error("this node has no file descriptor left for a connection")]
    FileDescriptors,
    /// Towards one address: each connection to it needs a port of its own.
    #[error("this node has no local port left for a connection to the receiver's address")]
    LocalPorts,
    /// Of the kernel, for sockets and what is in them.
    #[error("this node has no memory left for a connection")]
    Memory,
    /// For a lookup of a name.
    #[error("this node has no thread left to look up a name")]
    Threads,
    /// Bytes, for a body that a transform has made.
    #[error("transformed bodies use all the memory that they may use on this node")]
    TransformedBodies,
}

impl Shortage {
    /// All of them.
    pub const ALL: [Shortage; 5] = [
        Shortage::FileDescriptors,
        Shortage::LocalPorts,
        Shortage::Memory,
        Shortage::Threads,
        Shortage::TransformedBodies,
    ];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Shortage::FileDescriptors => "file_descriptors",
            Shortage::LocalPorts => "local_ports",
            Shortage::Memory => "memory",
            Shortage::Threads => "threads",
            Shortage::TransformedBodies => "transformed_bodies",
        }
    }

    /// Its place in [`Shortage::ALL`].
    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    /// Whether an error is one of these; of ports only [`Shortage::of_connect`] can tell.
    pub(super) fn of(error: &io::Error) -> Option<Self> {
        if let Some(known) = error.get_ref().and_then(|cause| cause.downcast_ref::<Shortage>()) {
            return Some(*known);
        }
        match Errno::from_io_error(error)? {
            Errno::MFILE | Errno::NFILE => Some(Shortage::FileDescriptors),
            Errno::NOMEM | Errno::NOBUFS => Some(Shortage::Memory),
            _ => None,
        }
    }

    /// The same of a connection to this address. A machine without an address of the receiver's family says that it has no
    /// address to connect from, as it does when all ports are taken. Only in the second case UDP, which has ports of its own,
    /// finds one.
    pub(super) fn of_connect(error: &io::Error, to: SocketAddr) -> Option<Self> {
        if error.kind() != io::ErrorKind::AddrNotAvailable {
            return Shortage::of(error);
        }
        match reachable_by_udp(to) {
            Ok(()) => Some(Shortage::LocalPorts),
            Err(error) => Shortage::of(&error),
        }
    }

    /// Whether as many sockets can be had as a lookup takes. The system's resolver often does not say why it has no answer, or
    /// leaves out what it could not open, such as its hosts file.
    pub(super) fn of_lookup() -> Option<Self> {
        let opened = (0..LOOKUP_DESCRIPTORS).map(|_| UdpSocket::bind("0.0.0.0:0"));
        opened.collect::<io::Result<Vec<_>>>().err().and_then(|error| Shortage::of(&error))
    }
}

/// Nothing is sent by this: it only chooses an address to send from.
fn reachable_by_udp(to: SocketAddr) -> io::Result<()> {
    let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    UdpSocket::bind(any)?.connect(to)
}

impl From<Shortage> for Failure {
    fn from(shortage: Shortage) -> Self {
        Failure::Shortage(shortage)
    }
}

/// Why an exchange has no end.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It is the attempt's.
    Problem(Problem),
    /// No attempt was made.
    Shortage(Shortage),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Failure::Problem(problem)
    }
}

#[cfg(test)]
impl Failure {
    pub(super) fn problem(self) -> Problem {
        match self {
            Failure::Problem(problem) => problem,
            Failure::Shortage(shortage) => panic!("no problem but {shortage}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_node_are_told_from_those_of_receivers() {
        for (errno, expected) in [
            (Errno::MFILE, Some(Shortage::FileDescriptors)),
            (Errno::NFILE, Some(Shortage::FileDescriptors)),
            (Errno::NOMEM, Some(Shortage::Memory)),
            (Errno::NOBUFS, Some(Shortage::Memory)),
            (Errno::CONNREFUSED, None),
            (Errno::HOSTUNREACH, None),
            (Errno::NETUNREACH, None),
            (Errno::TIMEDOUT, None),
            (Errno::AGAIN, None),
        ] {
            assert_eq!(Shortage::of(&errno.into()), expected, "{errno}");
        }
        assert_eq!(Shortage::of(&io::Error::other(Shortage::Threads)), Some(Shortage::Threads));
        assert_eq!(Shortage::of(&io::Error::other("the resolver broke")), None);
    }

    #[test]
    fn no_port_left_is_told_from_no_address_of_the_family() {
        let error = io::Error::from(Errno::ADDRNOTAVAIL);
        let receiver = |text: &str| text.parse::<SocketAddr>().unwrap();
        assert_eq!(Shortage::of_connect(&error, receiver("127.0.0.1:80")), Some(Shortage::LocalPorts));
        // The documentation's own network: no machine has a route to it without one to everywhere.
        let has_ipv6 = reachable_by_udp(receiver("[2001:db8::1]:80")).is_ok();
        let expected = has_ipv6.then_some(Shortage::LocalPorts);
        assert_eq!(Shortage::of_connect(&error, receiver("[2001:db8::1]:80")), expected);
    }
}
