//! `/v1/brand-settings`: how an account's portal looks.

use super::auth::Caller;
use super::entity_tag::{EntityTag, IfMatch, IfNoneMatch};
use super::error::ApiError;
use super::fields::Fields;
use super::refusal::{Body, Keyed, Stale, Stored};
use super::request::BrandChange;
use super::view::Data;
use super::{Shared, accounts, logo, view};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use postrider_engine::Catalog;
use postrider_store::{Account, Brand, BrandTimes, Change};

/// Get the brand
#[utoipa::path(
    get, path = "/v1/brand-settings", operation_id = "get_brand_settings", tag = "portal",
    params(IfNoneMatch),
    responses((status = 200, description = "How the portal looks.", body = Data<view::Brand>, headers(("ETag"))), (status = 304, description = "Unchanged: its ETag matches `If-None-Match`."), Keyed)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    if_none_match: IfNoneMatch,
) -> Result<Response, ApiError> {
    let account = accounts::own(&app.engine.catalog(), caller)?;
    let shown = view::Brand::seen(&account);
    Ok(if_none_match.answer(&EntityTag::of(&shown), &shown))
}

/// Change the brand
///
/// What is not given stays.
#[utoipa::path(
    post, path = "/v1/brand-settings", operation_id = "update_brand_settings", tag = "portal",
    params(IfMatch),
    request_body = BrandChange,
    responses((status = 200, description = "How the portal looks now.", body = Data<view::Brand>, headers(("ETag"))), Keyed, Stale, Body, Stored)
)]
pub(crate) async fn update(
    State(app): Shared,
    caller: Caller,
    if_match: IfMatch,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let now = app.engine.clock().now();
    let decide = |catalog: &Catalog| {
        let account = accounts::own(catalog, caller)?;
        if_match.check(&EntityTag::of(&view::Brand::seen(&account)))?;
        let created_at = account.brand.set.map_or(now, |times| times.created_at);
        let brand = apply(account.brand.clone(), &mut fields)?;
        fields.finish()?;
        let brand = Brand { set: Some(BrandTimes { created_at, updated_at: now }), ..brand };
        let changed = Account { brand, ..account };
        Ok::<_, ApiError>((vec![Change::PutAccount(changed.clone())], changed))
    };
    let shown = view::Brand::seen(&app.change(caller, decide).await?);
    Ok(EntityTag::of(&shown).on(view::data(StatusCode::OK, &shown)))
}

/// Change the brand as any other object
///
/// The same as by `POST`. What is not given stays.
#[utoipa::path(
    patch, path = "/v1/brand-settings", operation_id = "patch_brand_settings", tag = "portal",
    params(IfMatch),
    request_body = BrandChange,
    responses((status = 200, description = "How the portal looks now.", body = Data<view::Brand>, headers(("ETag"))), Keyed, Stale, Body, Stored)
)]
pub(crate) async fn patch(
    app: Shared,
    caller: Caller,
    if_match: IfMatch,
    fields: Fields,
) -> Result<Response, ApiError> {
    update(app, caller, if_match, fields).await
}

/// `null` takes one away.
fn apply(mut into: Brand, fields: &mut Fields) -> Result<Brand, ApiError> {
    if fields.mentions("company_name") {
        into.company_name = fields.name("company_name")?;
    }
    if fields.mentions("docs_title") {
        into.docs_title = fields.name("docs_title")?;
    }
    if fields.mentions("logo_url") {
        into.logo_url = fields.word("logo_url", logo::legal, logo::ALLOWED)?;
    }
    if fields.mentions("primary_color") {
        into.primary_color = fields.word("primary_color", color, "must be a color such as #0a7f3c")?;
    }
    if fields.mentions("support_email") {
        into.support_email = accounts::email(fields, "support_email")?;
    }
    Ok(into)
}

fn color(text: &str) -> Option<String> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_color_is_six_digits() {
        assert_eq!(color("#0A7f3c").as_deref(), Some("#0a7f3c"));
        for bad in ["", "#", "0a7f3c", "#0a7f3", "#0a7f3cc", "#0a7f3g", "red", "#é7f3c", "#000;x:y"] {
            assert_eq!(color(bad), None, "{bad}");
        }
    }
}
