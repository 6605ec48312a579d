//! Secrets: what receivers check deliveries with, and that none is ever seen where it does not belong.

mod fields;
mod memory_image;
mod outlets;
mod planted;
mod signatures;
mod witness;

pub(crate) use planted::files_with;
