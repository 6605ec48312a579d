//! The flags of `plan`, `apply` and `export`.

use super::file::Format;
use anyhow::Context as _;
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

#[derive(Args)]
pub(super) struct GatewayArgs {
    /// Where the gateway is [default: POSTRIDER_URL, or http://127.0.0.1:8080]
    #[arg(long)]
    url: Option<String>,
    /// A key of the account, or the admin key [default: POSTRIDER_KEY, or POSTRIDER_ADMIN_KEY]
    #[arg(long)]
    key: Option<String>,
    /// With the admin key: the account, acc_… [default: the first]
    #[arg(long, value_name = "ID")]
    pub(super) account: Option<String>,
}

impl GatewayArgs {
    pub(super) fn url(&self) -> String {
        let known = self.url.clone().or_else(|| std::env::var("POSTRIDER_URL").ok());
        known.unwrap_or_else(|| "http://127.0.0.1:8080".to_owned())
    }

    pub(super) fn key(&self) -> anyhow::Result<String> {
        let variable = |name: &str| std::env::var(name).ok().filter(|key| !key.is_empty());
        let known = self.key.clone().or_else(|| variable("POSTRIDER_KEY"));
        known.or_else(|| variable("POSTRIDER_ADMIN_KEY")).context("give a key with --key or POSTRIDER_KEY")
    }
}
