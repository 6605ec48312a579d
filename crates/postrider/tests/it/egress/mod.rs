//! What the gateway dials and what it does not, by whom it is taken for, and how it is known: seen from outside.

mod closed;
mod consent;
mod keys;
mod loops;
mod presets;
mod trial;
