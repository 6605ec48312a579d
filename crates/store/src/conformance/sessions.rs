//! Who is signed in: sessions end by themselves, with their key, and when they are ended.

use super::Harness;
use super::sample::{ACCOUNT, START, seconds};
use crate::{ApiKey, Change, SESSION_BYTES, Scope, SessionRecord, Store};
use postrider_core::id::ApiKeyId;
use postrider_core::limits::SESSIONS_PER_KEY_MAX;

const KEY: ApiKeyId = ApiKeyId::from_u64(7);

fn session(number: u64) -> SessionRecord {
    let mut id = [0; SESSION_BYTES];
    id[..8].copy_from_slice(&number.to_be_bytes());
    SessionRecord {
        id,
        key: Some(KEY),
        key_print: [9; SESSION_BYTES],
        note: String::new(),
        began_at: START.after(seconds(number)),
        ends_at: START.after(seconds(number + 3600)),
    }
}

fn key(id: ApiKeyId) -> ApiKey {
    ApiKey {
        id,
        account: ACCOUNT,
        name: "ci".into(),
        prefix: "hk_1234567".into(),
        hash: [9; 32],
        scope: Scope::Account,
        rate_limit: None,
        created_at: START,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    }
}

async fn is_there(store: &dyn Store, session: &SessionRecord) -> bool {
    store.sessions().find(session.id).await.unwrap().is_some()
}

pub async fn a_session_comes_back_with_every_field_in_the_next_run(harness: &dyn Harness) {
    let full = SessionRecord { note: "operator acc_1 Shop & Söhne \u{1f511}".into(), ..session(1) };
    let bare = SessionRecord { key: None, key_print: [255; SESSION_BYTES], ..session(2) };
    let store = harness.open().await;
    for record in [&full, &bare] {
        store.sessions().begin(record.clone()).await.unwrap();
    }
    drop(store);
    let store = harness.open().await;
    for record in [&full, &bare] {
        assert_eq!(store.sessions().find(record.id).await.unwrap().as_ref(), Some(record));
    }
    assert_eq!(store.sessions().find([1; SESSION_BYTES]).await.unwrap(), None);
    store.close().await.unwrap();
}

pub async fn the_first_secret_is_the_secret_of_all_runs(harness: &dyn Harness) {
    let store = harness.open().await;
    assert_eq!(store.sessions().secret([1; SESSION_BYTES]).await.unwrap(), [1; SESSION_BYTES]);
    assert_eq!(store.sessions().secret([2; SESSION_BYTES]).await.unwrap(), [1; SESSION_BYTES]);
    drop(store);
    let store = harness.open().await;
    assert_eq!(store.sessions().secret([3; SESSION_BYTES]).await.unwrap(), [1; SESSION_BYTES]);
    store.close().await.unwrap();
}

pub async fn a_session_is_noted_and_ended_alone(harness: &dyn Harness) {
    let store = harness.open().await;
    for number in 1..=2 {
        store.sessions().begin(session(number)).await.unwrap();
    }
    store.sessions().note(session(1).id, "reader".into()).await.unwrap();
    let noted = SessionRecord { note: "reader".into(), ..session(1) };
    assert_eq!(store.sessions().find(session(1).id).await.unwrap(), Some(noted));
    assert_eq!(store.sessions().find(session(2).id).await.unwrap(), Some(session(2)));
    store.sessions().end(session(1).id).await.unwrap();
    assert!(!is_there(&*store, &session(1)).await && is_there(&*store, &session(2)).await);
    store.sessions().note(session(1).id, "operator".into()).await.unwrap();
    assert!(!is_there(&*store, &session(1)).await, "a note begins no session");
    store.close().await.unwrap();
}

pub async fn a_key_that_is_revoked_or_deleted_takes_its_sessions_along(harness: &dyn Harness) {
    let store = harness.open().await;
    let others = ApiKeyId::from_u64(8);
    let of_other = SessionRecord { key: Some(others), key_print: [8; SESSION_BYTES], ..session(3) };
    let of_gateway = SessionRecord { key: None, ..session(4) };
    for record in [&session(1), &of_other, &of_gateway] {
        store.sessions().begin(record.clone()).await.unwrap();
    }
    store.configure(vec![Change::PutApiKey(key(KEY)), Change::PutApiKey(key(others))]).await.unwrap();
    assert!(is_there(&*store, &session(1)).await, "a key that is changed keeps its sessions");
    let revoked = ApiKey { revoked_at: Some(START), ..key(KEY) };
    store.configure(vec![Change::PutApiKey(revoked)]).await.unwrap();
    assert!(!is_there(&*store, &session(1)).await, "revoked");
    assert!(is_there(&*store, &of_other).await);
    store.configure(vec![Change::DeleteApiKey(others)]).await.unwrap();
    assert!(!is_there(&*store, &of_other).await, "deleted");
    assert!(is_there(&*store, &of_gateway).await, "the gateway's own key is none of them");
    store.close().await.unwrap();
}

pub async fn sessions_that_are_over_are_forgotten(harness: &dyn Harness) {
    let store = harness.open().await;
    store.sessions().begin(session(1)).await.unwrap();
    store.sessions().begin(session(2)).await.unwrap();
    let later =
        SessionRecord { began_at: session(1).ends_at, ends_at: START.after(seconds(9000)), ..session(3) };
    store.sessions().begin(later.clone()).await.unwrap();
    assert!(!is_there(&*store, &session(1)).await, "it is over when the third begins");
    assert!(is_there(&*store, &session(2)).await && is_there(&*store, &later).await);
    store.close().await.unwrap();
}

pub async fn the_oldest_sessions_of_a_key_make_room(harness: &dyn Harness) {
    let store = harness.open().await;
    let most = SESSIONS_PER_KEY_MAX as u64;
    let of_other = SessionRecord { key: None, key_print: [8; SESSION_BYTES], ..session(0) };
    store.sessions().begin(of_other.clone()).await.unwrap();
    for number in 1..=most + 2 {
        store.sessions().begin(session(number)).await.unwrap();
    }
    let mut there = Vec::new();
    for number in 1..=most + 2 {
        if is_there(&*store, &session(number)).await {
            there.push(number);
        }
    }
    assert_eq!(there, (3..=most + 2).collect::<Vec<_>>());
    assert!(is_there(&*store, &of_other).await, "another key has its own");
    store.close().await.unwrap();
}
