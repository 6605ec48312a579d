//! A request that has not ended, and whether its sender still waits for it.

use super::mood::Reply;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::net::TcpStream;

pub(super) struct Open {
    /// Of its arrival in the log.
    pub(super) index: usize,
    /// Only of one that ends when its sender goes.
    stream: Option<TcpStream>,
}

impl Open {
    pub(super) fn of(index: usize, reply: &Reply, stream: &TcpStream) -> Self {
        let stream = if reply.ends_with_sender() { stream.try_clone().ok() } else { None };
        Open { index, stream }
    }

    /// Looks without waiting and without taking anything off the wire.
    pub(super) fn is_gone(&self) -> bool {
        let look = |stream: &TcpStream| recv(stream, &mut [0_u8; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        match self.stream.as_ref().map(look) {
            None | Some(Err(Errno::AGAIN)) => false,
            Some(Ok((_, bytes))) => bytes == 0,
            Some(Err(_)) => true,
        }
    }
}
