//! Looks at a gateway by its API: a few calls, none of which changes anything.

use super::snapshot::{AccountSeen, LastAttempt, SettingsSeen, Snapshot, list};
use crate::client::{Access, Answer, Client, is_unavailable};
use anyhow::Context;
use postrider_core::time::Timestamp;
use std::time::{Duration, Instant, SystemTime};

/// Destinations that are looked at one by one.
const LOOKED_AT: usize = 10;
/// Accounts that are, two calls each.
const ACCOUNTS_LOOKED_AT: usize = 50;
const HOUR_MS: u64 = 3600 * 1000;

/// One look. Fails when the gateway cannot be reached or the key is not good: then there is nothing to be said.
pub(super) fn examine(access: &Access) -> anyhow::Result<Snapshot> {
    let client = access.client()?;
    let ready = client.get("/readyz")?;
    let queue = client.read("/v1/queue", &[("limit", "200".to_owned())])?;
    let now =
        queue["taken_at"].as_str().and_then(Timestamp::parse_rfc3339).context("not a Postrider gateway")?;
    let mut seen = Snapshot {
        not_ready: not_ready(&ready),
        clock_ahead_seconds: ready.date.map_or(0, |theirs| ahead(theirs, SystemTime::now())),
        ..Snapshot::of_queue(&queue)
    };
    // Only an operator may see how a gateway is set up.
    if let Ok(settings) = client.get("/v1/settings")?.data() {
        seen.see_settings(&settings);
    }
    if seen.slots.is_some() && seen.not_ready.is_none() {
        see_all_nodes(&client, &mut seen, now)?;
    }
    let past = see_accounts(access, &client, &mut seen, now);
    match past.and_then(|()| see_destinations(access, &client, &mut seen)) {
        // What is owed a gateway knows without its store; only the past is not to be seen.
        Err(error) if is_unavailable(&error) => {
            seen.not_ready.get_or_insert_with(|| ("store_unavailable".to_owned(), error.to_string()));
            Ok(seen)
        }
        looked => looked.map(|()| seen),
    }
}

/// What an operator sees of the gateway as a whole, from a store that answers.
fn see_all_nodes(client: &Client, seen: &mut Snapshot, now: Timestamp) -> anyhow::Result<()> {
    if let Ok(series) = client.get("/v1/stats/series?resolution=1m")?.data() {
        seen.see_shed(&series, now);
    }
    // On an embedded store one node owns everything.
    if !seen.is_embedded
        && let Ok(cluster) = client.get("/v1/cluster")?.data()
    {
        seen.see_cluster(&cluster);
    }
    Ok(())
}

/// Keys and dead letters: of all accounts for an operator who chose none, else of the one account.
fn see_accounts(access: &Access, client: &Client, seen: &mut Snapshot, now: Timestamp) -> anyhow::Result<()> {
    if seen.slots.is_none() || access.names_account() {
        let (mut account, took) = look_at(client, String::new(), now)?;
        see_unrouted(client, seen, &mut account)?;
        (seen.accounts, seen.listing_ms) = (vec![account], took);
        return Ok(());
    }
    let listed = client.read("/v1/accounts", &[])?;
    let ids: Vec<&str> = list(&listed).iter().filter_map(|account| account["id"].as_str()).collect();
    seen.accounts_unseen = ids.len().saturating_sub(ACCOUNTS_LOOKED_AT);
    for id in ids.into_iter().take(ACCOUNTS_LOOKED_AT) {
        let own = access.client_of(id)?;
        let (mut account, took) = look_at(&own, format!(" --account {id}"), now)?;
        see_unrouted(&own, seen, &mut account)?;
        seen.accounts.push(account);
        seen.listing_ms = seen.listing_ms.max(took);
    }
    Ok(())
}

/// One account, and for how many milliseconds its dead letters were waited for.
fn look_at(client: &Client, as_account: String, now: Timestamp) -> anyhow::Result<(AccountSeen, u64)> {
    let mut account = AccountSeen { as_account, ..AccountSeen::default() };
    // A key that may not list keys sees none.
    if let Ok(listed) = client.get("/v1/api-keys")?.data() {
        account.see_keys(&listed, now);
    }
    let asked = Instant::now();
    let last_hour = [("since", an_hour_before(now)), ("limit", "200".to_owned())];
    account.see_deaths(&client.read("/v1/dead-letters", &last_hour)?);
    Ok((account, u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX)))
}

/// Not asked of one that takes no events: while a commit hangs it does not answer what needs its scheduler.
fn see_unrouted(client: &Client, seen: &Snapshot, account: &mut AccountSeen) -> anyhow::Result<()> {
    if seen.not_ready.is_none() {
        account.see_unrouted(&client.read("/v1/stats", &[])?);
    }
    Ok(())
}

/// What is set of each of the first destinations, and how its oldest delivery went last.
fn see_destinations(access: &Access, client: &Client, seen: &mut Snapshot) -> anyhow::Result<()> {
    let (is_operator, is_ready) = (seen.slots.is_some(), seen.not_ready.is_none());
    for found in seen.first_owed(LOOKED_AT) {
        let own = is_operator.then(|| access.client_of(&found.account)).transpose()?;
        let client = own.as_ref().unwrap_or(client);
        if is_ready {
            let shown = client.get(&format!("/v1/destinations/{}", found.id))?;
            found.settings = shown.data().ok().as_ref().map(SettingsSeen::of);
        }
        let Some(delivery) = &found.oldest_delivery else { continue };
        let answer = client.get(&format!("/v1/deliveries/{delivery}"))?;
        // One that was delivered meanwhile says nothing.
        found.last = answer.data().ok().as_ref().and_then(LastAttempt::of_delivery);
    }
    Ok(())
}

/// `/readyz` says with the code why no events are taken.
fn not_ready(answer: &Answer) -> Option<(String, String)> {
    (!answer.status.is_success()).then(|| (answer.code().to_owned(), answer.reason()))
}

/// By the clock that dates answers, which is also that of signatures. The one that the queue is told by goes on evenly
/// when the other is set, and stands still while a commit hangs.
fn ahead(theirs: SystemTime, ours: SystemTime) -> i64 {
    let seconds = |apart: Duration| i64::try_from(apart.as_secs()).unwrap_or(i64::MAX);
    match theirs.duration_since(ours) {
        Ok(ahead) => seconds(ahead),
        Err(behind) => -seconds(behind.duration()),
    }
}

pub(crate) fn an_hour_before(now: Timestamp) -> String {
    Timestamp::from_unix_ms(now.unix_ms().saturating_sub(HOUR_MS)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_ahead_or_behind_by_whole_seconds() {
        let ours = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let check = |theirs, expected| assert_eq!(ahead(theirs, ours), expected);
        check(ours, 0);
        check(ours + Duration::from_millis(90_900), 90);
        check(ours - Duration::from_millis(90_900), -90);
        check(SystemTime::UNIX_EPOCH, -1_000_000);
    }
}
