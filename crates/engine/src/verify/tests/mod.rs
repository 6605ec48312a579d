//! The presets against vectors, every change of a signed request, configurations, and what no input may do.

mod case;
mod config;
mod mutations;
mod properties;
mod vectors;
