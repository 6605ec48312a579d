//! Objects that a file declares, read and shown by the same code as those of requests. So a mistake has the same
//! sentence, and what is shown can be compared with what a gateway shows.

use super::auth::Caller;
use super::error::ApiError;
use super::fields::{Fields, required};
use super::{api_keys, destinations, event_types, routes, sources, verification, view};
use postrider_core::id::{AccountId, ApiKeyId, DestinationId, EventTypeId, RouteId, SourceId};
use postrider_core::time::Timestamp;
use postrider_engine::Catalog;
use postrider_engine::send::{DestinationUrl, SigningSecret};
use postrider_store::{ApiKey, DescribedType, Destination, Route, Scope, Source};
use serde::Serialize;
use serde_json::{Map, Value};

/// What is wrong with an object.
pub(crate) struct Refused {
    /// The field at fault.
    pub(crate) field: Option<String>,
    /// One sentence that names it.
    pub(crate) sentence: String,
}

type Shown = Result<Map<String, Value>, Refused>;

/// When it is made and by whom does not matter to any setting.
const NEVER: Timestamp = Timestamp::from_unix_ms(0);
const NOBODY: AccountId = AccountId::from_u64(0);

/// A destination with these fields, as it would be shown. Whether its address is open is for the gateway to say.
pub(crate) fn destination(object: Map<String, Value>) -> Shown {
    shown(object, |fields| {
        let name = required("name", fields.name("name")?)?;
        let url = required("url", fields.text("url")?)?;
        DestinationUrl::parse(&url).map_err(|allowed| ApiError::field("url", allowed))?;
        let secret = SigningSecret::text_of([0; 32]);
        let blank = Destination::new(DestinationId::from_u64(0), NOBODY, name, url, secret, NEVER);
        Ok(view::Destination::of(&destinations::apply(blank, fields)?, None))
    })
}

/// A source, in the same way.
pub(crate) fn source(object: Map<String, Value>) -> Shown {
    shown(object, |fields| {
        let name = required("name", fields.name("name")?)?;
        let mut source = Source::new(SourceId::from_u64(0), NOBODY, name, String::new(), NEVER);
        source.active = sources::status(fields)?.unwrap_or(true);
        source.rate_limit = destinations::rate_limit(fields, None)?;
        Ok(view::Source::of(&verification::changed(source, fields)?, "").without_token())
    })
}

/// A route, whose ends are not looked at.
pub(crate) fn route(object: Map<String, Value>) -> Shown {
    shown(object, |fields| {
        let blank = Route::new(RouteId::from_u64(0), NOBODY, DestinationId::from_u64(0), NEVER);
        let caller = Caller::new(NOBODY, Scope::Account, None);
        Ok(view::Route::of(&routes::apply(blank, &Catalog::default(), caller, fields)?))
    })
}

/// An event type.
pub(crate) fn event_type(object: Map<String, Value>) -> Shown {
    shown(object, |fields| {
        let described = DescribedType {
            id: EventTypeId::from_u64(0),
            account: NOBODY,
            event_type: required("event_type", event_types::event_type(fields)?)?,
            schema: required("schema", event_types::schema(fields)?)?,
            description: event_types::description(fields)?,
            created_at: NEVER,
        };
        Ok(view::EventType::of(&described))
    })
}

/// A key. One that has ended in the meantime is still what the file says.
pub(crate) fn api_key(object: Map<String, Value>) -> Shown {
    shown(object, |fields| {
        let key = ApiKey {
            id: ApiKeyId::from_u64(0),
            account: NOBODY,
            name: required("name", fields.name("name")?)?,
            prefix: String::new(),
            hash: [0; 32],
            scope: api_keys::scope(fields)?,
            expires_at: api_keys::expiry(fields, NEVER)?,
            rate_limit: destinations::rate_limit(fields, None)?,
            created_at: NEVER,
            revoked_at: None,
            last_used_at: None,
        };
        Ok(view::ApiKey::of(&key))
    })
}

fn shown<V: Serialize>(
    object: Map<String, Value>,
    read: impl FnOnce(&mut Fields) -> Result<V, ApiError>,
) -> Shown {
    let mut fields = Fields::of(object);
    let read = read(&mut fields).and_then(|view| fields.finish().map(|()| view));
    let view = read.map_err(ApiError::into_refused)?;
    match serde_json::to_value(view) {
        Ok(Value::Object(shown)) => Ok(shown),
        _ => unreachable!("views are objects"),
    }
}
