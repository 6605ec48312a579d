//! The log, on standard error.

use crate::config::{Config, LogFormat};
use anyhow::anyhow;
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

pub(crate) fn start(config: &Config) -> anyhow::Result<()> {
    // The migration runner tells of every start; only its warnings matter to an operator.
    let filter = EnvFilter::try_new(format!("refinery_core=warn,{}", config.log));
    let filter = filter.map_err(|error| anyhow!("log: {error}"))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal());
    match config.log_format {
        LogFormat::Text => builder.init(),
        LogFormat::Json => builder.json().init(),
    }
    Ok(())
}
