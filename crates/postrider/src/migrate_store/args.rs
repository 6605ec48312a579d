//! The flags of `migrate-store`.

use clap::Args;

#[derive(Args)]
pub(crate) struct MigrateStoreArgs {
    /// The store to move: sqlite:DIR or a PostgreSQL URL; no gateway may run on it
    #[arg(long, value_name = "STORE")]
    pub(super) from: String,
    /// An empty store to move it to, or the one that an earlier run was cut off at
    #[arg(long, value_name = "STORE")]
    pub(super) to: String,
}
