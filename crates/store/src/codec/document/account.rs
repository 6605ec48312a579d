//! Accounts as documents.

use super::BadDocument;
use super::fields::{Reading, Writing, text, time};
use crate::{Account, Brand, BrandTimes};
use postrider_core::account::Weight;
use postrider_core::id::{AccountId, DestinationId};
use serde_json::Value;

pub(super) fn write(account: &Account, into: &mut Writing<'_>) {
    into.put("name", account.name.as_str());
    into.put("plan", account.plan.as_deref());
    into.put("email", account.email.as_deref());
    into.put("retention_days", account.retention_days);
    into.put("company_name", account.brand.company_name.as_deref());
    into.put("docs_title", account.brand.docs_title.as_deref());
    into.put("logo_url", account.brand.logo_url.as_deref());
    into.put("primary_color", account.brand.primary_color.as_deref());
    into.put("support_email", account.brand.support_email.as_deref());
    if let Some(BrandTimes { created_at, updated_at }) = account.brand.set {
        into.time("brand_created_at", created_at);
        into.time("brand_updated_at", updated_at);
    }
    into.put("weight", account.weight.get());
    into.put("max_in_flight", account.max_in_flight);
    into.put("max_pending", account.max_pending);
    into.put("max_pending_bytes", account.max_pending_bytes);
    into.put("max_pending_age_seconds", account.max_pending_age_seconds);
    into.put("operational_destination", account.operational_destination.map(DestinationId::as_u64));
    into.time("created_at", account.created_at);
}

pub(super) fn read(from: &Reading<'_>) -> Result<Account, BadDocument> {
    let small = |value: &Value| value.as_u64().and_then(|number| number.try_into().ok());
    Ok(Account {
        id: AccountId::from_u64(from.id()),
        name: from.text("name")?,
        plan: from.maybe("plan", text)?,
        email: from.maybe("email", text)?,
        retention_days: from.maybe("retention_days", small)?,
        brand: brand(from)?,
        weight: from.get("weight", |value| Weight::new(value.as_u64()?).ok())?,
        max_in_flight: from.maybe("max_in_flight", small)?,
        max_pending: from.maybe("max_pending", Value::as_u64)?,
        max_pending_bytes: from.maybe("max_pending_bytes", Value::as_u64)?,
        max_pending_age_seconds: from.maybe("max_pending_age_seconds", small)?,
        operational_destination: from
            .maybe("operational_destination", |value| value.as_u64().map(DestinationId::from_u64))?,
        created_at: from.time("created_at")?,
    })
}

fn brand(from: &Reading<'_>) -> Result<Brand, BadDocument> {
    Ok(Brand {
        company_name: from.maybe("company_name", text)?,
        docs_title: from.maybe("docs_title", text)?,
        logo_url: from.maybe("logo_url", text)?,
        primary_color: from.maybe("primary_color", text)?,
        support_email: from.maybe("support_email", text)?,
        set: brand_times(from)?,
    })
}

fn brand_times(from: &Reading<'_>) -> Result<Option<BrandTimes>, BadDocument> {
    let created_at = from.maybe("brand_created_at", time)?;
    let updated_at = from.maybe("brand_updated_at", time)?;
    let times = created_at.zip(updated_at);
    Ok(times.map(|(created_at, updated_at)| BrandTimes { created_at, updated_at }))
}
