//! Health right now: the same rules over the same calls, made inside the process.

use crate::dashboard::inside::{Inside, path};
use crate::dashboard::session::Session;
use crate::doctor::{AccountSeen, Finding, LastAttempt, SettingsSeen, Snapshot, an_hour_before, diagnose};
use postrider_core::time::Timestamp;
use serde_json::Value;
use std::time::Instant;

/// Destinations that are looked at one by one. Fewer than the command looks at, since a page asks again and again.
const LOOKED_AT: usize = 3;

/// What is wrong, the worst first; so many events were refused lately. What this key may not see has nothing wrong.
pub(super) async fn ask(
    api: &Inside,
    session: &Session,
    queue: &Value,
    shed: u64,
    now: Timestamp,
) -> Vec<Finding> {
    let mut seen = Snapshot { shed, ..Snapshot::of_queue(queue) };
    let refused = api.refusal(session, "/readyz").await;
    seen.not_ready = refused.map(|refused| (refused.code, format!("{}.", refused.sentence)));
    let mut account = AccountSeen::default();
    if let Ok(listed) = api.get::<Value>(session, "/v1/api-keys").await {
        account.see_keys(&listed, now);
    }
    // Only an operator may see how a gateway is set up.
    if let Ok(settings) = api.get::<Value>(session, "/v1/settings").await {
        seen.see_settings(&settings);
    }
    // On an embedded store one node owns everything; one that does not answer is not waited for.
    if session.account.is_none()
        && seen.not_ready.is_none()
        && !seen.is_embedded
        && let Ok(cluster) = api.get::<Value>(session, "/v1/cluster").await
    {
        seen.see_cluster(&cluster);
    }
    let deaths = [("since", Some(an_hour_before(now))), ("limit", Some("200".to_owned()))];
    let deaths: Vec<_> = deaths.iter().map(|(name, value)| (*name, value.as_deref())).collect();
    let asked = Instant::now();
    if let Ok(found) = api.get::<Value>(session, &path("/v1/dead-letters", &deaths)).await {
        account.see_deaths(&found);
    }
    seen.listing_ms = u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX);
    seen.accounts.push(account);
    let is_ready = seen.not_ready.is_none();
    for found in seen.first_owed(LOOKED_AT) {
        if is_ready {
            let shown = api.get::<Value>(session, &format!("/v1/destinations/{}", found.id)).await;
            found.settings = shown.ok().as_ref().map(SettingsSeen::of);
        }
        let Some(delivery) = &found.oldest_delivery else { continue };
        // Of other accounts nothing is told here, nor of one that was delivered meanwhile.
        let told = api.get::<Value>(session, &format!("/v1/deliveries/{delivery}")).await;
        found.last = told.ok().as_ref().and_then(LastAttempt::of_delivery);
    }
    diagnose(&seen)
}
