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
    /// Do not ask
    #[arg(long)]
    pub(super) yes: bool,
    #[command(flatten)]
    pub(super) gateway: GatewayArgs,
}

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// The language of the file
    #[arg(long, value_enum, default_value = "yaml")]
    pub(super) format: Format,
    #[command(flatten)]
    pub(super) gateway: GatewayArgs,
}

#[derive(Args)]
pub(super) struct FileArgs {
    /// The file, in YAML or, when its name ends in .toml, in TOML; - for YAML from the standard input
    #[arg(short, long, value_name = "FILE")]
    pub(super) file: String,
    /// Delete what the gateway has and the file does not
    #[arg(long)]
    pub(super) prune: bool,
    /// Send the secrets of objects that exist, too; without it they are sent only when an object is made
    #[arg(long)]
    pub(super) rotate_secrets: bool,
    /// Answer in JSON
    #[arg(long)]
    pub(super) json: bool,
}
