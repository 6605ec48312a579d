//! Which receivers show certificates that end soon, as far as this node has sent to them.

use super::Engine;
use postrider_core::time::Timestamp;
use postrider_store::{Destination, DestinationStatus};
use std::sync::Arc;
use std::time::Duration;

/// A certificate that ends soon, or has ended.
#[derive(Clone, Debug)]
pub struct EndingCertificate {
    /// Whose it is.
    pub destination: Arc<Destination>,
    /// When it ends.
    pub ends_at: Timestamp,
}

impl Engine {
    /// The nearest first. What is not sent to any more does not count, nor does what was seen where it was before.
    pub fn ending_certificates(&self, within: Duration) -> Vec<EndingCertificate> {
        let (catalog, certificates) = (self.catalog(), self.connector.certificates());
        let ending = certificates.ending_before(self.clock.wall().after(within)).into_iter();
        let known = ending.filter_map(|(id, ends_at)| {
            let destination = Arc::clone(catalog.any_destination(id)?);
            Some(EndingCertificate { destination, ends_at })
        });
        let counts = |found: &EndingCertificate| {
            found.destination.status() != DestinationStatus::Disabled
                && certificates.is_of(&found.destination)
        };
        known.filter(counts).collect()
    }
}
