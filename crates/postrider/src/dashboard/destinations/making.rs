//! Making a destination with a route to it, on the dashboard and in the portal alike.

use super::ShownOnce;
use crate::dashboard::answer::Refused;
use crate::dashboard::guard::Form;
use crate::dashboard::inside::{Inside, Listed};
use crate::dashboard::session::Session;
use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// By the names that refusals have.
pub(in crate::dashboard) const FIELDS: [&str; 3] = ["name", "url", "event_type_pattern"];

/// A destination that was just made, and what its page shows this once: its signing secret.
pub(in crate::dashboard) struct Made {
    pub(in crate::dashboard) id: String,
    pub(in crate::dashboard) once: ShownOnce,
}

/// A destination with a route to it. One without the other is taken back, so that the form can be sent again.
pub(in crate::dashboard) async fn make(
    api: &Inside,
    session: &Session,
    form: &Form,
) -> Result<Made, Refused> {
    check_name(api, session, form.text("name").unwrap_or_default()).await?;
    let wanted =
        json!({ "name": form.text("name").unwrap_or_default(), "url": form.text("url").unwrap_or_default() });
    let made = api.post(session, "/v1/destinations", &wanted).await?;
    let id = made["id"].as_str().unwrap_or_default().to_owned();
    if let Err(refused) = add_route(api, session, &id, form).await {
        api.change(session, Method::DELETE, &format!("/v1/destinations/{id}"), &json!({})).await?;
        return Err(refused);
    }
    Ok(Made { id, once: ShownOnce::of(&made) })
}

/// Two of one name could be told apart by their ids alone. A program may make them; a person hardly wants to.
async fn check_name(api: &Inside, session: &Session, name: &str) -> Result<(), Refused> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let known: Listed<Named> = api.list(session, "/v1/destinations").await?;
    if known.items.iter().all(|known| known.name != name) {
        return Ok(());
    }
    let refused = Refused::new(
        StatusCode::CONFLICT,
        "A destination with this name already exists; choose another name.",
    );
    Err(Refused { field: Some("name".to_owned()), ..refused })
}

/// A route for the types of the form; every one when there is none.
pub(in crate::dashboard) async fn add_route(
    api: &Inside,
    session: &Session,
    destination: &str,
    form: &Form,
) -> Result<Value, Refused> {
    let mut wanted = Map::from_iter([("destination_id".to_owned(), json!(destination))]);
    if let Some(pattern) = form.text("event_type_pattern") {
        wanted.insert("event_type_pattern".to_owned(), json!(pattern));
    }
    api.post(session, "/v1/routes", &Value::Object(wanted)).await
}
