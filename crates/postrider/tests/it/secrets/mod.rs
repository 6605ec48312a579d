//! Secrets: what receivers check deliveries with, and that none is ever seen where it does not belong.

mod fields;
mod outlets;
mod planted;
mod signatures;
mod witness;
