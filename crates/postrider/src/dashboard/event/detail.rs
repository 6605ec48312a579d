//! One event as the API shows it, for the pages of the dashboard and of the portal.

use super::attempt::Attempt;
use super::timeline::Delivery;
use crate::dashboard::answer::Refused;
use crate::dashboard::inside::{Inside, segment};
use crate::dashboard::session::Session;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

#[derive(Deserialize)]
pub(in crate::dashboard) struct Detail {
    pub(in crate::dashboard) event: Event,
    pub(super) attempts: Vec<Attempt>,
}

#[derive(Deserialize)]
pub(in crate::dashboard) struct Event {
    pub(in crate::dashboard) id: String,
    pub(in crate::dashboard) event_type: Option<String>,
    pub(super) source_id: Option<String>,
    pub(super) external_event_id: Option<String>,
    pub(super) replay_of: Option<String>,
    pub(in crate::dashboard) status: String,
    pub(in crate::dashboard) received_at: String,
    pub(super) headers: Map<String, Value>,
    pub(in crate::dashboard) body: String,
    pub(in crate::dashboard) body_encoding: String,
    pub(super) deliveries: Vec<Delivery>,
    pub(super) final_state: Option<String>,
}

impl Detail {
    pub(in crate::dashboard) async fn ask(
        api: &Inside,
        session: &Session,
        id: &str,
    ) -> Result<Self, Refused> {
        api.get(session, &format!("/v1/events/{}", segment(id))).await
    }
}

impl Event {
    /// Nothing more happens to one that has ended.
    pub(in crate::dashboard) fn is_live(&self) -> bool {
        self.final_state.is_none()
    }

    /// The body as it came.
    pub(super) fn bytes(&self) -> Cow<'_, [u8]> {
        match self.body_encoding.as_str() {
            "base64" => STANDARD.decode(&self.body).unwrap_or_default().into(),
            _ => self.body.as_bytes().into(),
        }
    }
}
