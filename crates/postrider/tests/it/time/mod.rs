//! Wall clocks that jump, and times far away: no panic, no burst, no stall, and order is kept.

mod far;
mod jumps;
