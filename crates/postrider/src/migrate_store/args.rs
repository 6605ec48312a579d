//! The flags of `migrate-store`.

use clap::Args;

#[derive(Args)]
pub(crate) struct MigrateStoreArgs {
    /// Source store: sqlite:DIR or a PostgreSQL URL; no gateway may be using it
    #[arg(long, value_name = "STORE")]
    pub(super) from: String,
    /// Target store: empty, or left by an interrupted run
    #[arg(long, value_name = "STORE")]
    pub(super) to: String,
}
