//! Whether the gateway is there, for commands that go on when it is not: one that is away is waited for.

use crate::client::is_passing;

#[derive(Default)]
pub(super) struct Presence {
    is_away: bool,
}

impl Presence {
    /// Takes what came of a call. What may pass is waited for; anything else is the end.
    pub(super) fn settle(&mut self, done: anyhow::Result<()>) -> anyhow::Result<()> {
        match done {
            Ok(()) => {
                if std::mem::take(&mut self.is_away) {
                    eprintln!("the gateway is reachable again");
                }
                Ok(())
            }
            Err(error) if is_passing(&error) => {
                self.miss(&error);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// That it is away is said once.
    pub(super) fn miss(&mut self, error: &anyhow::Error) {
        if !std::mem::replace(&mut self.is_away, true) {
            eprintln!("{error}; trying again");
        }
    }
}
