//! What a test has a store do with its calls.

use postrider_store::StoreError;
use tokio::sync::watch;

/// What becomes of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Switch {
    Works,
    Fails(fn() -> StoreError),
    /// The call comes back when the switch is set to something else.
    Hangs,
    Panics,
}

impl Switch {
    /// Comes back once it is settled what becomes of the call.
    pub(crate) async fn pass(of: &watch::Sender<Switch>) -> Result<(), StoreError> {
        let mut switch = of.subscribe();
        let settled = switch.wait_for(|switch| !matches!(switch, Switch::Hangs)).await;
        let settled = *settled.expect("the store has the other end");
        match settled {
            Switch::Works | Switch::Hangs => Ok(()),
            Switch::Fails(error) => Err(error()),
            Switch::Panics => panic!("planted by a test"),
        }
    }
}
