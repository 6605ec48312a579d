//! What becomes of a panic: it is logged with its place, and unless it costs only one request, attempt or query, the
//! process ends. A gateway without one of its threads or loops would answer and do nothing.

use super::log;
use crate::terminal::clean_lines;
use postrider_store::containment::is_contained;
use std::panic::PanicHookInfo;
use std::thread;

/// As of a program whose main thread panics.
const EXIT_CODE: i32 = 101;

/// From now on panics are logged, and most of them are the end.
pub(super) fn start() {
    std::panic::set_hook(Box::new(panicked));
}

fn panicked(panic: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let thread = thread.name().unwrap_or("without a name");
    let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let cause = panic.payload_as_str().unwrap_or("it says nothing");
    if is_contained() {
        tracing::error!(%thread, %place, %cause, "a request, an attempt or a query panicked; the gateway continues");
        return;
    }
    tracing::error!(%thread, %place, %cause, "a vital thread panicked; the gateway exits");
    let reason = format!("stopped because thread '{thread}' panicked at {place}: {cause}");
    log::finish_with(format!("postrider: {}\n", clean_lines(&reason)));
    std::process::exit(EXIT_CODE);
}
