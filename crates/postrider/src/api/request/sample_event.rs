//! What trying an event on the routes takes.

use super::NewRoute;
use crate::api::view::word::BodyEncoding;
use std::collections::HashMap;
use utoipa::ToSchema;

/// An event to try. Nothing of it is stored or sent.
#[derive(ToSchema)]
pub(crate) struct SampleEvent {
    /// As if it came by this source; by none when absent.
    source_id: Option<String>,
    #[schema(example = "payment.failed")]
    event_type: Option<String>,
    headers: Option<HashMap<String, String>>,
    /// A text is the body as it is; anything else is written as JSON.
    #[schema(value_type = Option<serde_json::Value>)]
    payload: Option<()>,
    /// How the text of `payload` is written: `base64` is for a body that is no text.
    #[schema(value_type = Option<BodyEncoding>, default = "utf8")]
    payload_encoding: Option<String>,
    /// A route that is not made. It is judged alone, as if there were no other.
    route: Option<NewRoute>,
}
