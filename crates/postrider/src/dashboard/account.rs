//! One account: its share and limits, how its portal looks, a link to it, and deleting it.

use super::answer::{Frame, Refused, done, see_other, shown};
use super::filled::Filled;
use super::guard::{Change, Form, Visitor};
use super::inside::{Inside, Listed, segment};
use super::session::Session;
use super::{Desk, Shared, ask, looking, show};
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, Method, StatusCode};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize)]
struct Account {
    id: String,
    name: String,
    plan: String,
    email: Option<String>,
    retention_days: Option<u32>,
    weight: u32,
    max_in_flight: Option<u32>,
    max_pending: Option<u64>,
    max_pending_bytes: Option<u64>,
    max_pending_age_seconds: Option<u64>,
    created_at: String,
}

/// For how long the gateway keeps events.
#[derive(Deserialize)]
struct Kept {
    retention_days: u32,
}

#[derive(Deserialize, Default)]
struct Brand {
    company_name: Option<String>,
    docs_title: Option<String>,
    logo_url: Option<String>,
    primary_color: Option<String>,
    support_email: Option<String>,
}

/// A link to the portal, this once.
#[derive(Deserialize, Serialize)]
struct Link {
    url: String,
    expires_at: String,
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    frame: Frame,
    found: Account,
    filled: Filled,
    brand: Filled,
    portal: Filled,
    link: Option<Link>,
}

#[derive(Template)]
#[template(path = "account_delete.html")]
struct DeletePage {
    frame: Frame,
    found: Account,
    destinations: usize,
    sources: usize,
}

const TEXTS: [&str; 3] = ["name", "email", "plan"];
const NUMBERS: [&str; 6] = [
    "retention_days",
    "weight",
    "max_in_flight",
    "max_pending",
    "max_pending_bytes",
    "max_pending_age_seconds",
];
const BRAND: [&str; 5] = ["company_name", "docs_title", "logo_url", "primary_color", "support_email"];
/// Of a `return_url` as it stands in a link; as much stays for the rest of it, and a third is added by sealing.
const RETURN_BYTES_MAX: usize = 1500;
const PORTAL: [&str; 2] = ["return_url", "expires_in_seconds"];

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let here = here(&id);
    let link = desk.once.told(&session, &here, &headers);
    let page = look(&desk.api, &session, &id).await.map(|page| AccountPage { link, ..page });
    desk.once.taken(&here, &headers, shown(&session, page))
}

async fn look(api: &Inside, session: &Session, id: &str) -> Result<AccountPage, Refused> {
    let (mut found, tag): (Account, _) = api.get_tagged(session, &at(id)).await?;
    // What is the gateway's own is not to become the account's by saving the form.
    if session.is_operator() {
        let gateway: Kept = api.get(session, "/v1/settings").await?;
        found.retention_days = found.retention_days.filter(|days| *days != gateway.retention_days);
    }
    let (brand, brand_tag): (Brand, _) =
        api.get_tagged(&acting(api, session, id).await?, "/v1/brand-settings").await?;
    let (filled, brand) = (filled(&found).seeing(tag), brand.filled().seeing(brand_tag));
    let frame = Frame::of(Some(session), "accounts");
    Ok(AccountPage { frame, found, filled, brand, portal: Filled::default(), link: None })
}

/// The operator says for whom; anybody else can only mean their own, and is told that there is no other.
async fn acting(api: &Inside, session: &Session, id: &str) -> Result<Session, Refused> {
    if session.is_operator() {
        return Ok(session.acting_for(id));
    }
    api.get::<IgnoredAny>(session, &at(id)).await.map(|_| session.clone())
}

fn here(id: &str) -> String {
    format!("/accounts/{}", segment(id))
}

fn at(id: &str) -> String {
    format!("/v1/accounts/{}", segment(id))
}

fn filled(found: &Account) -> Filled {
    let text = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    Filled::with([
        ("name", found.name.clone()),
        ("email", found.email.clone().unwrap_or_default()),
        ("plan", found.plan.clone()),
        ("retention_days", text(found.retention_days.map(u64::from))),
        ("weight", found.weight.to_string()),
        ("max_in_flight", text(found.max_in_flight.map(u64::from))),
        ("max_pending", text(found.max_pending)),
        ("max_pending_bytes", text(found.max_pending_bytes)),
        ("max_pending_age_seconds", text(found.max_pending_age_seconds)),
    ])
}

impl Brand {
    fn filled(self) -> Filled {
        Filled::with([
            ("company_name", self.company_name.unwrap_or_default()),
            ("docs_title", self.docs_title.unwrap_or_default()),
            ("logo_url", self.logo_url.unwrap_or_default()),
            ("primary_color", self.primary_color.unwrap_or_default()),
            ("support_email", self.support_email.unwrap_or_default()),
        ])
    }
}

pub(super) async fn change(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    let wanted = form.wanted(&TEXTS, &NUMBERS);
    match desk.api.save(&session, &at(&id), &form, &wanted).await {
        Ok(_) => see_other(&here(&id)),
        Err(refused) => {
            let fields = [&TEXTS[..], &NUMBERS[..]].concat();
            again(&desk, &session, &id, refusal(form, &fields, refused, |page, filled| page.filled = filled))
                .await
        }
    }
}

pub(super) async fn change_brand(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    let wanted = form.wanted(&BRAND, &[]);
    let saved = match acting(&desk.api, &session, &id).await {
        Ok(owner) => desk.api.save(&owner, "/v1/brand-settings", &form, &wanted).await,
        Err(refused) => Err(refused),
    };
    match saved {
        Ok(_) => see_other(&here(&id)),
        Err(refused) => {
            again(&desk, &session, &id, refusal(form, &BRAND, refused, |page, filled| page.brand = filled))
                .await
        }
    }
}

/// The link is shown once and cannot be asked for again.
pub(super) async fn make_link(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    let mut wanted = form.wanted(&["return_url"], &["expires_in_seconds"]);
    wanted.as_object_mut().into_iter().for_each(|fields| fields.retain(|_, value| !value.is_null()));
    let made = match (acting(&desk.api, &session, &id).await, form.text("return_url").and_then(too_long)) {
        (Err(refused), _) | (Ok(_), Some(refused)) => Err(refused),
        (Ok(owner), None) => desk.api.post(&owner, "/v1/portal-sessions", &wanted).await,
    };
    match made {
        Ok(made) => desk.once.leave(&session, &here(&id), &Link::deserialize(made).ok()),
        Err(refused) => {
            again(&desk, &session, &id, refusal(form, &PORTAL, refused, |page, filled| page.portal = filled))
                .await
        }
    }
}

/// A link goes to its page in a cookie, which browsers keep up to 4,096 bytes of: one that is longer would be made and
/// never shown.
fn too_long(return_url: &str) -> Option<Refused> {
    // As it stands in the link: written as a URL, and that as a part of another.
    let written = url::Url::parse(return_url).ok()?.to_string();
    let bytes = segment(&written).len();
    (bytes > RETURN_BYTES_MAX).then(|| {
        let sentence = "return_url is too long for this form; create the link by the API.";
        Refused {
            field: Some("return_url".to_owned()),
            ..Refused::new(StatusCode::UNPROCESSABLE_ENTITY, sentence)
        }
    })
}

/// Puts a refusal beside the field that it names, in the form that it is of.
fn refusal(
    form: Form,
    fields: &[&str],
    refused: Refused,
    put: impl FnOnce(&mut AccountPage, Filled),
) -> impl FnOnce(&mut AccountPage) {
    let (filled, refused) = Filled::refused(form, fields, refused);
    move |page| {
        put(page, filled);
        page.frame.refusal = refused.map(|refused| refused.sentence);
    }
}

/// The page again, with something put on it.
async fn again(desk: &Desk, session: &Session, id: &str, put: impl FnOnce(&mut AccountPage)) -> Response {
    let page = look(&desk.api, session, id).await.map(|mut page| {
        put(&mut page);
        page
    });
    shown(session, page)
}

/// Asks once and says what happens; then it is done.
pub(super) async fn delete(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    if !ask::is_agreed(&form) {
        return shown(&session, ask(&desk.api, &session, &id).await);
    }
    let mut made = match acting(&desk.api, &session, &id).await {
        Ok(_) => desk.api.change(&session, Method::DELETE, &at(&id), &json!({})).await.map(drop),
        Err(refused) => Err(refused),
    };
    if made.is_ok() && session.account.as_ref() == Some(&id) {
        made = looking::end(&desk, &session).await;
    }
    done(&session, made, "/accounts")
}

async fn ask(api: &Inside, session: &Session, id: &str) -> Result<DeletePage, Refused> {
    let found: Account = api.get(session, &at(id)).await?;
    let owner = acting(api, session, id).await?;
    let destinations: Listed<IgnoredAny> = api.list(&owner, "/v1/destinations").await?;
    let sources: Listed<IgnoredAny> = api.list(&owner, "/v1/sources").await?;
    let (destinations, sources) = (destinations.items.len(), sources.items.len());
    Ok(DeletePage { frame: Frame::of(Some(session), "accounts"), found, destinations, sources })
}
