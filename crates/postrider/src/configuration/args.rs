//! The flags of `plan`, `apply` and `export`.

use super::file::Format;
use crate::client::GatewayArgs;
use clap::Args;

#[derive(Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(super) file: FileArgs,
    #[command(flatten)]
    pub(super) gateway: GatewayArgs,
}

#[derive(Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(super) file: FileArgs,
    /// Skip the confirmation
    #[arg(long)]
    pub(super) yes: bool,
    #[command(flatten)]
    pub(super) gateway: GatewayArgs,
}

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// File format
    #[arg(long, value_enum, default_value = "yaml")]
    pub(super) format: Format,
    #[command(flatten)]
    pub(super) gateway: GatewayArgs,
}

#[derive(Args)]
pub(super) struct FileArgs {
    /// File in YAML, or in TOML if its name ends in .toml; - reads YAML from standard input
    #[arg(short, long, value_name = "FILE")]
    pub(super) file: String,
    /// Delete objects that the file does not declare
    #[arg(long)]
    pub(super) prune: bool,
    /// Also update the secrets of existing objects; by default secrets are set only on creation
    #[arg(long)]
    pub(super) rotate_secrets: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}
