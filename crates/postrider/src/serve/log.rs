//! The log, on standard error.

use crate::config::{Config, LogFormat};
use anyhow::anyhow;
use tracing_subscriber::EnvFilter;

pub(crate) fn start(config: &Config) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&config.log).map_err(|error| anyhow!("log: {error}"))?;
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    match config.log_format {
        LogFormat::Text => builder.init(),
        LogFormat::Json => builder.json().init(),
    }
    Ok(())
}
