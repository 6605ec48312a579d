//! Disks that fail: a loss of power, torn writes, syncs and writes that fail, bits that flip.

mod bits;
mod disk;
mod durable_calls;
mod failing;
mod power;
mod restored;
mod undo;
