//! The checks of this repository's style are in `tests/tidy`; this is what other tests share with them.

pub mod shell_block;
