//! A listener that reads whole requests, each connection on a thread of its own, and leaves the answer to whoever asked
//! for it.

use super::loopback;
use super::wire::{self, Message};
use std::io::BufReader;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// Whoever answers.
pub trait Receiver: Send + Sync + 'static {
    /// A connection came; `false` ends the listener.
    fn connected(&self) -> bool;

    /// A request came whole. Answers it on the stream, and says whether the connection may be used again.
    fn request(&self, message: Message, stream: &TcpStream) -> std::io::Result<bool>;
}

/// A thread a connection; a fan-out to 1,000 destinations makes as many, so their stacks are small.
const STACK_BYTES: usize = 128 * 1024;

/// Listens at an address of this machine that nobody else uses.
pub fn listen<R: Receiver>(receiver: &Arc<R>) -> SocketAddr {
    let listener = TcpListener::bind(loopback::fresh()).expect("the address is ours alone");
    let address = listener.local_addr().expect("it is bound");
    let receiver = Arc::clone(receiver);
    thread::spawn(move || accept(&listener, &receiver));
    address
}

fn accept<R: Receiver>(listener: &TcpListener, receiver: &Arc<R>) {
    for stream in listener.incoming() {
        if !receiver.connected() {
            return;
        }
        let (Ok(stream), receiver) = (stream, Arc::clone(receiver)) else { continue };
        let connection = move || drop(serve(&stream, &*receiver));
        thread::Builder::new().stack_size(STACK_BYTES).spawn(connection).expect("there is room for a thread");
    }
}

fn serve<R: Receiver>(stream: &TcpStream, receiver: &R) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(message) = wire::read(&mut reader)? {
        if !receiver.request(message, stream)? {
            return Ok(());
        }
    }
    Ok(())
}
