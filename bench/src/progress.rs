//! What is going on, on the standard error, so that nobody waits before a dead screen.

/// One line; the standard output stays free for the figures.
macro_rules! progress {
    ($($text:tt)*) => {
        eprintln!("bench: {}", format_args!($($text)*))
    };
}
pub(crate) use progress;
