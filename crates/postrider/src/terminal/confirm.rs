//! Asking before something that cannot be taken back.

use anyhow::{Context as _, bail};
use std::io::IsTerminal as _;

/// Goes on only if a person says yes. The question is without its question mark.
pub(crate) fn confirm(question: &str) -> anyhow::Result<()> {
    if !std::io::stdin().is_terminal() {
        bail!("cannot ask for confirmation without a terminal; use --yes");
    }
    eprint!("{question}? [y/N] ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("read the answer")?;
    if matches!(answer.trim(), "y" | "Y" | "yes") { Ok(()) } else { bail!("nothing was changed") }
}
