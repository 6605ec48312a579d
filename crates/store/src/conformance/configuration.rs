//! What is configured.

use super::Harness;
use super::sample::{ACCOUNT, SOURCE, START, accept, destination, event, fresh, owed, seconds, waiting};
use crate::Store;
use crate::{
    Account, ApiKey, Brand, BrandTimes, Change, ClientCertificate, Configuration, DescribedType, Destination,
    DestinationAuth, DestinationTls, FieldPlace, Handshake, PreviousKeys, PrivateKeyText, Route, Scope,
    SignatureVersions, Signing, Source, Verification,
};
use postrider_core::account::Weight;
use postrider_core::delivery::Priority;
use postrider_core::destination::{
    CircuitPolicy, MaxConcurrency, OnDeadLetter, Ordering, RateLimit, TimeoutSeconds,
};
use postrider_core::event::EventType;
use postrider_core::final_status::{FinalStatus, FinalStatuses};
use postrider_core::id::{AccountId, ApiKeyId, DestinationId, EventTypeId, RouteId, SourceId};
use postrider_core::limits::PENDING_LIMIT_MAX;
use postrider_core::pattern::EventPattern;
use postrider_core::priority_rule::PriorityRule;
use postrider_core::retry::{Jitter, RetryPolicy, Schedule};
use postrider_core::time::Timestamp;
use serde_json::json;
use std::time::Duration;

pub(super) fn account() -> Account {
    Account::new(ACCOUNT, "Ärzte & Söhne".into(), START)
}

pub(super) fn api_key(id: u64) -> ApiKey {
    ApiKey {
        id: ApiKeyId::from_u64(id),
        account: ACCOUNT,
        name: "deploy".into(),
        prefix: "pk_abc".into(),
        hash: std::array::from_fn(|index| index as u8 ^ 0xF0),
        scope: Scope::Account,
        rate_limit: None,
        created_at: START,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    }
}

pub(super) fn source(id: u64) -> Source {
    Source::new(SourceId::from_u64(id), ACCOUNT, "shop".into(), format!("tok_secret_{id}"), START)
}

fn guarded_source(id: u64) -> Source {
    let config = [("header", "x-token".into()), ("timestamp", serde_json::json!({ "header": "x-time" }))];
    let config = config.into_iter().map(|(field, value)| (field.to_owned(), value)).collect();
    Source {
        rate_limit: RateLimit::new(100.0, None).ok(),
        provider: Some("acme".into()),
        verification: Some(Verification { config, secrets: vec!["s3cret ü".into(), "\"old\"".into()] }),
        event_type_from: Some(FieldPlace::Header("x-type".into())),
        idempotency_key_from: Some(FieldPlace::JsonPointer("/data/0/id".into())),
        active: false,
        ..source(id)
    }
}

pub(super) fn plain_destination(id: u64) -> Destination {
    let (name, url) = ("billing".into(), "https://example.com/hooks?a=b".into());
    Destination::new(destination(id), ACCOUNT, name, url, "whsec_c2VjcmV0".into(), START)
}

pub(super) fn route(id: u64, from: Option<SourceId>, to: u64) -> Route {
    Route { source: from, ..Route::new(RouteId::from_u64(id), ACCOUNT, destination(to), START) }
}

fn described(id: u64) -> DescribedType {
    DescribedType {
        id: EventTypeId::from_u64(id),
        account: ACCOUNT,
        event_type: EventType::parse("payment.captured").unwrap(),
        schema: json!({ "type": "object", "properties": { "größe": { "minimum": 0.5 } }, "enum": [null] }),
        description: None,
        created_at: START,
    }
}

fn put(destination: Destination) -> Change {
    Change::PutDestination(Box::new(destination))
}

/// The configuration with everything sorted by id, since stores give it in any order.
pub(super) async fn configuration(store: &dyn Store) -> Configuration {
    let mut all = store.configuration().await.unwrap();
    all.accounts.sort_by_key(|account| account.id);
    all.api_keys.sort_by_key(|key| key.id);
    all.sources.sort_by_key(|source| source.id);
    all.destinations.sort_by_key(|destination| destination.id);
    all.routes.sort_by_key(|route| route.id);
    all.event_types.sort_by_key(|described| described.id);
    all
}

async fn route_ids(store: &dyn Store) -> Vec<u64> {
    configuration(store).await.routes.iter().map(|route| route.id.as_u64()).collect()
}

/// One without credentials, one with all there is, one with a header of the receiver's choice, one with a password.
fn destinations() -> [Destination; 4] {
    let header = DestinationAuth::Header { header: "x-api-key".into(), value: "öffne dich".into() };
    let full = Destination {
        max_concurrency: MaxConcurrency::new(1000).unwrap(),
        timeout: TimeoutSeconds::new(120).unwrap(),
        retry_policy: Some(RetryPolicy::default()),
        rate_limit: RateLimit::new(0.1, Some(100_000)).ok(),
        ordering: Ordering::ByKey,
        ordering_key: Some("payload.\"kunde\" ü".into()),
        on_dead_letter: OnDeadLetter::Skip,
        adaptive: false,
        circuit: CircuitPolicy::new(Some(10_000), Some(1), Some(86_400)).unwrap(),
        paused: true,
        active: false,
        disabled_reason: Some("it answered 410".into()),
        auth: Some(DestinationAuth::Bearer { token: "bearer-token".into() }),
        custom_headers: [("X-B", "2"), ("X-A", "1"), ("X-B", "")].into_iter().collect(),
        event_headers_key: Some("key".into()),
        signing: signing(),
        tls: DestinationTls {
            client_certificate: Some(ClientCertificate {
                certificate_pem: "certificate\nchain".into(),
                private_key_pem: "private\nkey".into(),
            }),
            ca_pem: Some("authority".into()),
        },
        preset: Some("internal".into()),
        handshake: Handshake::Wanted,
        ..plain_destination(41)
    };
    let keyed = Destination {
        auth: Some(header),
        ordering: Ordering::Strict,
        signing: Signing { versions: SignatureVersions::V1a, previous: Vec::new(), ..signing() },
        handshake: Handshake::Granted,
        ..plain_destination(42)
    };
    let basic = DestinationAuth::Basic { username: "ü".into(), password: "a:b".into() };
    [plain_destination(40), full, keyed, Destination { auth: Some(basic), ..plain_destination(43) }]
}

/// Both kinds of key, rotated twice.
fn signing() -> Signing {
    let key = |text: &str| PrivateKeyText(format!("whsk_{text}"));
    let first = PreviousKeys { secret: "whsec_1".into(), private_key: None, until: START };
    let second =
        PreviousKeys { secret: "whsec_2".into(), private_key: Some(key("2")), until: Timestamp::MAX };
    Signing { versions: SignatureVersions::Both, private_key: Some(key("3")), previous: vec![first, second] }
}

fn brand() -> Brand {
    Brand {
        company_name: Some("Ärzte".into()),
        docs_title: Some("Webhooks".into()),
        logo_url: Some("https://example.com/a.svg".into()),
        primary_color: Some("#00ff7f".into()),
        support_email: Some("help@example.com".into()),
        set: Some(BrandTimes { created_at: START, updated_at: Timestamp::MAX }),
    }
}

/// One of each form.
fn rules() -> Vec<PriorityRule> {
    let priority = Priority::High;
    vec![
        PriorityRule::Type { pattern: EventPattern::parse("**.failed").unwrap(), priority },
        PriorityRule::Prefix { prefix: "payment.".into(), priority: Priority::Critical },
        PriorityRule::Suffix { suffix: ".geprüft".into(), priority },
        PriorityRule::When { when: "payload.\"betrag\" > 1000 // ü\n".into(), priority: Priority::Bulk },
        PriorityRule::Value { value: "payload.urgent ? 1 : 3".into() },
        PriorityRule::Header { name: "x-priority".into() },
    ]
}

pub async fn all_that_is_configured_comes_back_with_its_secrets(harness: &dyn Harness) {
    let store = harness.open().await;
    let limited = Account {
        id: AccountId::from_u64(9),
        weight: Weight::new(1000).unwrap(),
        max_in_flight: Some(1),
        max_pending: Some(PENDING_LIMIT_MAX),
        max_pending_bytes: Some(1),
        max_pending_age_seconds: Some(2),
        operational_destination: Some(DestinationId::from_u64(77)),
        plan: Some("groß".into()),
        email: Some("ops@example.com".into()),
        retention_days: Some(3),
        brand: brand(),
        ..account()
    };
    let accounts = [account(), limited];
    let revoked = ApiKey { revoked_at: Some(START.after(seconds(9))), ..api_key(21) };
    let narrow_key = ApiKey {
        scope: Scope::Ingest,
        rate_limit: RateLimit::new(0.5, Some(7)).ok(),
        expires_at: Some(START.after(seconds(60))),
        last_used_at: Some(START.after(seconds(1))),
        ..api_key(22)
    };
    let keys = [api_key(20), revoked, narrow_key];
    let sources = [source(30), guarded_source(31)];
    let destinations = destinations();
    let narrow = Route {
        pattern: EventPattern::parse("payment.*").unwrap(),
        filter: Some("payload.\"betrag\" > 5 // ü\n".into()),
        transform: Some("{'body': payload, 'headers': {'x-ä': \"1\"}}".into()),
        priority: Priority::Critical,
        priority_rules: rules(),
        retry_policy: Some(RetryPolicy::default()),
        active: false,
        ..route(51, Some(SourceId::from_u64(30)), 41)
    };
    let routes = [route(50, None, 40), narrow];
    let explained = DescribedType { description: Some("größer\nals 0,5".into()), ..described(61) };
    let event_types = [described(60), explained];
    let mut changes: Vec<Change> = accounts.clone().map(Change::PutAccount).into();
    changes.extend(keys.clone().map(Change::PutApiKey));
    changes.extend(sources.clone().map(Change::PutSource));
    changes.extend(destinations.clone().map(put));
    changes.extend(routes.clone().map(Change::PutRoute));
    changes.extend(event_types.clone().map(|described| Change::PutEventType(Box::new(described))));
    store.configure(changes).await.unwrap();
    let all = configuration(&*store).await;
    // Compared one by one: printed forms leave the secrets out.
    assert!(all.accounts == accounts && all.api_keys == keys);
    assert!(all.sources == sources, "sources with their tokens and secrets");
    assert!(all.destinations == destinations, "destinations with their credentials");
    assert_eq!(all.routes, routes);
    assert_eq!(all.event_types, event_types);
    store.configure(vec![Change::DeleteEventType(EventTypeId::from_u64(60))]).await.unwrap();
    assert_eq!(configuration(&*store).await.event_types, event_types[1..]);
}

pub async fn putting_what_exists_replaces_it(harness: &dyn Harness) {
    let store = harness.open().await;
    let old = Destination {
        auth: Some(DestinationAuth::Bearer { token: "old".into() }),
        custom_headers: [("x", "1")].into_iter().collect(),
        retry_policy: Some(RetryPolicy::default()),
        ..plain_destination(40)
    };
    let changes = vec![
        Change::PutAccount(account()),
        Change::PutApiKey(api_key(20)),
        Change::PutSource(source(30)),
        put(old),
        Change::PutRoute(route(50, Some(SourceId::from_u64(30)), 40)),
    ];
    store.configure(changes).await.unwrap();
    let new_account = Account { name: "new".into(), ..account() };
    let new_key = ApiKey { revoked_at: Some(START), ..api_key(20) };
    let new_source = Source { token: "tok_new".into(), active: false, ..source(30) };
    let new_destination = Destination { url: "https://example.com/new".into(), ..plain_destination(40) };
    let new_route = Route { priority: Priority::Bulk, ..route(50, None, 40) };
    let changes = vec![
        Change::PutAccount(new_account.clone()),
        Change::PutApiKey(new_key.clone()),
        Change::PutSource(new_source.clone()),
        put(new_destination.clone()),
        Change::PutRoute(new_route.clone()),
    ];
    store.configure(changes).await.unwrap();
    let all = configuration(&*store).await;
    assert!(all.accounts == [new_account] && all.api_keys == [new_key]);
    assert!(all.sources == [new_source] && all.destinations == [new_destination]);
    assert_eq!(all.routes, [new_route], "replacing a source or a destination leaves its routes");
}

pub async fn deleting_a_destination_deletes_its_routes_and_leaves_its_queue(harness: &dyn Harness) {
    let store = harness.open().await;
    let changes = vec![
        put(plain_destination(10)),
        put(plain_destination(11)),
        Change::PutRoute(route(50, None, 10)),
        Change::PutRoute(route(51, None, 11)),
        Change::PutRoute(route(52, Some(SOURCE), 10)),
    ];
    store.configure(changes).await.unwrap();
    accept(&*store, vec![event(100, vec![owed(101, 10), owed(102, 11)])]).await;
    store.configure(vec![Change::DeleteDestination(destination(10))]).await.unwrap();
    let all = configuration(&*store).await;
    assert_eq!(all.destinations.iter().map(|left| left.id).collect::<Vec<_>>(), [destination(11)]);
    assert_eq!(route_ids(&*store).await, [51]);
    assert_eq!(waiting(&*store, fresh(10)).await.len(), 1, "what it is owed waits to be buried");
}

pub async fn deleting_a_source_deletes_the_routes_from_it(harness: &dyn Harness) {
    let store = harness.open().await;
    let (gone, stays) = (SourceId::from_u64(30), SourceId::from_u64(31));
    let changes = vec![
        Change::PutSource(source(30)),
        Change::PutSource(source(31)),
        put(plain_destination(10)),
        Change::PutRoute(route(50, Some(gone), 10)),
        Change::PutRoute(route(51, Some(stays), 10)),
        Change::PutRoute(route(52, None, 10)),
    ];
    store.configure(changes).await.unwrap();
    store.configure(vec![Change::DeleteSource(gone)]).await.unwrap();
    let all = configuration(&*store).await;
    assert_eq!(all.sources.iter().map(|left| left.id).collect::<Vec<_>>(), [stays]);
    assert_eq!(route_ids(&*store).await, [51, 52], "a route from all sources stays");
}

pub async fn deleting_a_route_deletes_it_alone(harness: &dyn Harness) {
    let store = harness.open().await;
    let routes = [50, 51].map(|id| Change::PutRoute(route(id, None, 10)));
    store.configure([vec![put(plain_destination(10))], routes.into()].concat()).await.unwrap();
    for _ in 0..2 {
        store.configure(vec![Change::DeleteRoute(RouteId::from_u64(50))]).await.unwrap();
        assert_eq!(route_ids(&*store).await, [51], "deleting what is gone changes nothing");
    }
    assert_eq!(configuration(&*store).await.destinations.len(), 1);
}

pub async fn deleting_an_account_or_a_key_deletes_it_alone(harness: &dyn Harness) {
    let store = harness.open().await;
    let other = Account { id: AccountId::from_u64(9), ..account() };
    let accounts = [account(), other.clone()].map(Change::PutAccount);
    let keys = [20, 21].map(|id| Change::PutApiKey(api_key(id)));
    store.configure([accounts, keys].concat()).await.unwrap();
    let gone = vec![Change::DeleteAccount(ACCOUNT), Change::DeleteApiKey(ApiKeyId::from_u64(21))];
    store.configure(gone).await.unwrap();
    let all = configuration(&*store).await;
    assert!(all.accounts == [other] && all.api_keys == [api_key(20)]);
}

pub async fn changes_are_made_in_their_order(harness: &dyn Harness) {
    let store = harness.open().await;
    let renamed = Destination { name: "second".into(), ..plain_destination(11) };
    let changes = vec![
        put(plain_destination(10)),
        put(plain_destination(11)),
        Change::PutRoute(route(50, None, 10)),
        Change::DeleteDestination(destination(10)),
        put(renamed.clone()),
    ];
    store.configure(changes).await.unwrap();
    let all = configuration(&*store).await;
    assert!(all.destinations == [renamed]);
    assert_eq!(all.routes, []);
}

pub async fn retry_policies_come_back_exactly(harness: &dyn Harness) {
    let store = harness.open().await;
    let delays = Schedule::Delays([500, 90_000, 0].map(Duration::from_millis).into());
    let exponential = Schedule::Exponential {
        base: Duration::from_millis(250),
        factor: 1.7,
        cap: Duration::from_millis(3_600_500),
    };
    let finals = FinalStatuses::new([FinalStatus::Code(404), FinalStatus::Class3xx, FinalStatus::Code(429)]);
    let policies = [
        RetryPolicy::new(delays.clone(), None, None, Jitter::None),
        RetryPolicy::new(delays, Some(100), Some(seconds(3600)), Jitter::Full),
        RetryPolicy::new(exponential.clone(), None, None, Jitter::Full),
        RetryPolicy::new(exponential, Some(1), Some(seconds(86_400)), Jitter::None)
            .map(|policy| policy.with_final_statuses(finals)),
    ];
    let with = |(id, policy): (u64, _)| Destination { retry_policy: policy, ..plain_destination(id) };
    let expected: Vec<Destination> = (40..).zip(policies.map(Result::ok)).map(with).collect();
    assert!(expected.iter().all(|destination| destination.retry_policy.is_some()), "all are legal");
    store.configure(expected.iter().cloned().map(put).collect()).await.unwrap();
    let policy = |destination: &Destination| destination.retry_policy.clone();
    let found = configuration(&*store).await.destinations;
    assert_eq!(found.iter().map(policy).collect::<Vec<_>>(), expected.iter().map(policy).collect::<Vec<_>>());
}
