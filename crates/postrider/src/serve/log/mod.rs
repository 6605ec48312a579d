//! The log, on standard error. It never panics and never waits: a thread of its own writes the lines, and those that it
//! cannot write are dropped and counted.

mod queue;

use crate::config::{Config, LogFormat};
use anyhow::{Context, anyhow};
use queue::LogQueue;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tracing_subscriber::EnvFilter;

/// An end waits for so long for whoever reads the log, and then ends all the same.
const END_WAITS_MAX: Duration = Duration::from_secs(2);
/// The thread that writes.
const THREAD: &str = "log";

static QUEUE: LogQueue = LogQueue::new();
static IS_STARTED: AtomicBool = AtomicBool::new(false);

pub(crate) fn start(config: &Config) -> anyhow::Result<()> {
    // The migration runner tells of every start; only its warnings matter to an operator.
    let filter = EnvFilter::try_new(format!("refinery_core=warn,{}", config.log));
    let filter = filter.map_err(|error| anyhow!("log: {error}"))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| Lines)
        // It would be printed to standard error, past the queue.
        .log_internal_errors(false)
        .with_target(false)
        .with_ansi(io::stderr().is_terminal());
    match config.log_format {
        LogFormat::Text => builder.init(),
        LogFormat::Json => builder.json().init(),
    }
    IS_STARTED.store(true, Ordering::Relaxed);
    let write = || QUEUE.write_to(&mut io::stderr(), warn_of_dropped);
    let writer = thread::Builder::new().name(THREAD.into()).spawn(write);
    writer.map(drop).context("the thread that writes the log could not be started")
}

/// Lines that were dropped since the start, since they could not be written.
pub(crate) fn lines_dropped() -> u64 {
    QUEUE.dropped()
}

/// Waits until the log is written, unless whoever reads it takes too long.
pub(crate) fn finish() {
    // The thread that writes the log cannot wait for itself.
    if thread::current().name() != Some(THREAD) {
        QUEUE.wait_until_written(END_WAITS_MAX);
    }
}

/// Prints the reason of an end behind the log. Of a gateway that has one, the end waits no longer for this either.
pub(crate) fn finish_with(reason: String) {
    let print = move || drop(io::stderr().write_all(reason.as_bytes()));
    if !IS_STARTED.load(Ordering::Relaxed) {
        return print();
    }
    finish();
    let (printed, until_printed) = mpsc::channel();
    let print = move || {
        print();
        let _ = printed.send(());
    };
    if thread::Builder::new().name("last-words".into()).spawn(print).is_ok() {
        let _ = until_printed.recv_timeout(END_WAITS_MAX);
    }
}

fn warn_of_dropped(lines: u64) {
    tracing::warn!(lines, "log lines dropped: they could not be written, or not fast enough");
}

/// Where the lines go. Each comes whole, by one write.
struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        QUEUE.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
