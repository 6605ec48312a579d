//! An event once more, to a URL that is no destination: for whoever looks for a fault at a receiver of their own.

use super::Engine;
use super::trials::{TrialError, TrialReport};
use crate::send::{DestinationUrl, Target, build};
use postrider_core::id::DestinationId;
use postrider_store::EventDetail;

impl Engine {
    /// Sends an event as it came, now, once, and keeps nothing of it. It is not signed, since nobody shares a secret with
    /// such a receiver.
    pub async fn send_elsewhere(
        &self,
        event: &EventDetail,
        url: DestinationUrl,
    ) -> Result<TrialReport, TrialError> {
        // There is no such destination; the id tells its test from others.
        let id = DestinationId::from_u64(self.next_id());
        let target = Target::elsewhere(event.content.account, id, url);
        let _under_way = self.trials.begin(event.content.account, id)?;
        let request = |ready: &_, (): &()| build(ready, &event.content, event.id, 1, self.clock);
        Ok(TrialReport::of(event.id, self.sender().make(&target, || Ok(()), request).await))
    }
}
