//! The audit log: records that are written with the change they tell of, and by themselves.

use super::Harness;
use super::sample::{ACCOUNT, START, seconds};
use crate::{Account, AuditQuery, AuditRecord, Author, Change, Store, Way};
use postrider_core::id::{AccountId, ApiKeyId, AuditId};
use postrider_core::limits::AUDIT_RECORDS_MAX;
use std::time::Duration;

const OTHERS: AccountId = AccountId::from_u64(999);

fn record(id: u64) -> AuditRecord {
    AuditRecord {
        id: AuditId::from_u64(id),
        account: ACCOUNT,
        at: START.after(seconds(id)),
        author: Author { way: Way::Machine, key: None, key_name: None },
        call: "POST /v1/accounts".into(),
        noun: "account".into(),
        object: None,
        before: None,
        after: None,
    }
}

/// With something in every field.
fn full(id: u64) -> AuditRecord {
    AuditRecord {
        author: Author {
            way: Way::Portal,
            key: Some(ApiKeyId::from_u64(7)),
            key_name: Some("ci \u{1f511}".into()),
        },
        call: "PATCH /v1/routes/{id}".into(),
        noun: "route".into(),
        object: Some("rte_1".into()),
        before: Some("{\"priority\":3}".into()),
        after: Some("{\"priority\":1}".into()),
        ..record(id)
    }
}

fn all() -> AuditQuery {
    AuditQuery {
        account: Some(ACCOUNT),
        noun: None,
        object: None,
        key: None,
        since: None,
        until: None,
        after: None,
        limit: 100,
    }
}

async fn ids(store: &dyn Store, query: AuditQuery) -> Vec<u64> {
    store.audit(query).await.unwrap().items.iter().map(|record| record.id.as_u64()).collect()
}

pub async fn a_record_comes_back_with_every_field(harness: &dyn Harness) {
    let store = harness.open().await;
    let account = Account::new(ACCOUNT, "shop".into(), START);
    let noted = Change::Record(Box::new(full(900)));
    store.configure(vec![Change::PutAccount(account.clone()), noted]).await.unwrap();
    store.record(record(901)).await.unwrap();
    drop(store);
    let store = harness.open().await;
    assert_eq!(store.audit(all()).await.unwrap().items, [record(901), full(900)]);
    let configuration = store.configuration().await.unwrap();
    assert_eq!(configuration.accounts, [account], "the change itself was made too");
    assert!(configuration.id_floor >= 901, "its id is not given out again");
}

pub async fn records_are_found_by_what_they_tell(harness: &dyn Harness) {
    let store = harness.open().await;
    for id in 1..=4 {
        store.record(if id == 2 { full(id) } else { record(id) }).await.unwrap();
    }
    store.record(AuditRecord { account: OTHERS, ..full(5) }).await.unwrap();
    let expect = async |query: AuditQuery, expected: &[u64]| assert_eq!(ids(&*store, query).await, expected);
    expect(all(), &[4, 3, 2, 1]).await;
    expect(AuditQuery { account: None, ..all() }, &[5, 4, 3, 2, 1]).await;
    expect(AuditQuery { account: Some(OTHERS), ..all() }, &[5]).await;
    expect(AuditQuery { noun: Some("route".into()), ..all() }, &[2]).await;
    expect(AuditQuery { object: Some("rte_1".into()), ..all() }, &[2]).await;
    expect(AuditQuery { object: Some("rte_2".into()), ..all() }, &[]).await;
    expect(AuditQuery { object: Some("\0".into()), ..all() }, &[]).await;
    expect(AuditQuery { key: Some(ApiKeyId::from_u64(7)), account: None, ..all() }, &[5, 2]).await;
    expect(AuditQuery { key: Some(ApiKeyId::from_u64(8)), ..all() }, &[]).await;
    expect(AuditQuery { since: Some(START.after(seconds(3))), ..all() }, &[4, 3]).await;
    expect(AuditQuery { until: Some(START.after(seconds(3))), ..all() }, &[2, 1]).await;
    let page = store.audit(AuditQuery { limit: 3, ..all() }).await.unwrap();
    assert_eq!((page.items.len(), page.next), (3, Some(AuditId::from_u64(2))));
    let rest = store.audit(AuditQuery { after: page.next, limit: 3, ..all() }).await.unwrap();
    assert_eq!((rest.items.len(), rest.next), (1, None));
}

pub async fn the_oldest_records_of_an_account_make_room(harness: &dyn Harness) {
    let store = harness.open().await;
    store.record(AuditRecord { account: OTHERS, ..record(1) }).await.unwrap();
    let last = 10 + AUDIT_RECORDS_MAX as u64;
    let noted = (10..=last).map(|id| Change::Record(Box::new(record(id))));
    store.configure(noted.collect()).await.unwrap();
    let oldest = AuditQuery { account: None, until: Some(START.after(seconds(13))), ..all() };
    assert_eq!(ids(&*store, oldest.clone()).await, [12, 11, 1]);
    store.record(record(last + 1)).await.unwrap();
    assert_eq!(ids(&*store, oldest).await, [12, 1], "those of others stay");
}

/// For stores that forget by age; the one in memory does not.
pub async fn records_past_their_retention_are_dropped(store: &dyn Store, retention: Duration) {
    for id in [1, 2] {
        store.record(record(id)).await.unwrap();
    }
    let as_old_as_allowed = START.after(seconds(1)).after(retention);
    for (now, expected) in [
        (as_old_as_allowed, vec![2, 1]),
        (as_old_as_allowed.after(Duration::from_millis(1)), vec![2]),
        (as_old_as_allowed.after(seconds(2)), vec![]),
    ] {
        store.maintain(now).await.unwrap();
        assert_eq!(ids(store, all()).await, expected, "at {now}");
    }
}
