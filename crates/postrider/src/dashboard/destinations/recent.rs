//! The newest deliveries of a destination.

use crate::dashboard::answer::Refused;
use crate::dashboard::inside::{Inside, Listed, path};
use crate::dashboard::session::Session;
use serde::Deserialize;

const MOST: &str = "20";

#[derive(Deserialize)]
pub(in crate::dashboard) struct Delivery {
    pub(in crate::dashboard) event_id: String,
    pub(in crate::dashboard) destination_id: String,
    pub(in crate::dashboard) event_type: Option<String>,
    pub(in crate::dashboard) status: String,
    pub(in crate::dashboard) attempts_count: u32,
    pub(in crate::dashboard) created_at: String,
    pub(in crate::dashboard) next_attempt_at: Option<String>,
    pub(in crate::dashboard) waiting_for: Option<String>,
}

pub(in crate::dashboard) async fn deliveries(
    api: &Inside,
    session: &Session,
    destination: &str,
) -> Result<Vec<Delivery>, Refused> {
    let newest = path("/v1/deliveries", &[("destination_id", Some(destination)), ("limit", Some(MOST))]);
    let newest: Listed<Delivery> = api.get(session, &newest).await?;
    Ok(newest.items)
}
