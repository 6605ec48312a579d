//! One dead letter as the lists of the dashboard and of the portal show it.

use serde::Deserialize;

#[derive(Deserialize)]
pub(in crate::dashboard) struct DeadLetter {
    pub(in crate::dashboard) delivery_id: String,
    pub(in crate::dashboard) event_id: String,
    pub(in crate::dashboard) destination_id: String,
    destination_name: Option<String>,
    pub(in crate::dashboard) event_type: Option<String>,
    pub(in crate::dashboard) attempts_count: u32,
    pub(in crate::dashboard) reason: String,
    pub(in crate::dashboard) last_error: Option<String>,
    pub(in crate::dashboard) died_at: String,
}

impl DeadLetter {
    pub(in crate::dashboard) fn destination(&self) -> &str {
        self.destination_name.as_deref().unwrap_or(&self.destination_id)
    }
}
