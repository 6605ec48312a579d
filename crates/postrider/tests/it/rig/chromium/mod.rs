//! A real browser, driven as its own tools drive it.

mod devtools;
mod tab;
mod watched;

pub(crate) use tab::{Size, Tab};
