//! What looks at a gateway from outside: its process, bytes on a wire, a listener, a way that can be cut, what stands
//! between it and the kernel, and chance.
//!
//! The integration tests of the binary stand on the same parts.

pub mod client;
pub mod listener;
pub mod loopback;
pub mod preload;
pub mod process;
pub mod proxy;
pub mod random;
pub mod tied;
pub mod wait;
pub mod window;
pub mod wire;
