//! Which routes take an event: by activity, source, pattern and filter, each destination once.

use super::Catalog;
use crate::expression::Facts;
use crate::routing::owed;
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, DestinationId, RouteId, SourceId};
use postrider_core::pattern::EventPattern;
use postrider_core::time::Timestamp;
use postrider_store::{Change, Destination, Headers, Route, Source};

const ACCOUNT: AccountId = AccountId::from_u64(1);

fn source(id: u64) -> Source {
    Source::new(SourceId::from_u64(id), ACCOUNT, "shop".into(), String::new(), Timestamp::ZERO)
}

fn route(id: u64, destination: u64) -> Route {
    Route::new(RouteId::from_u64(id), ACCOUNT, DestinationId::from_u64(destination), Timestamp::ZERO)
}

fn filtered(id: u64, destination: u64, filter: &str) -> Route {
    Route { filter: Some(filter.into()), ..route(id, destination) }
}

fn catalog(routes: &[Route]) -> Catalog {
    let mut catalog = Catalog::default();
    routes.iter().for_each(|route| catalog.apply(Change::PutRoute(route.clone())));
    catalog
}

/// The routes by which an event of source 1 and type `a.b` is owed.
fn taking(catalog: &Catalog, body: &[u8]) -> Vec<u64> {
    let (event_type, source, headers) = (EventType::parse("a.b").unwrap(), source(1), Headers::default());
    let matching = catalog.matching(source.account, Some(source.id), Some(&event_type));
    let facts = Facts::new(Some(&event_type), &source.name, &headers, body);
    owed(&matching, &facts).iter().map(|owed| owed.route.as_u64()).collect()
}

#[test]
fn a_destination_is_owed_an_event_by_the_first_route_that_takes_it() {
    let pattern = |text| EventPattern::parse(text).unwrap();
    for (name, routes, expected) in [
        ("all", vec![route(1, 1), route(2, 2)], vec![1, 2]),
        ("two to one", vec![route(1, 1), route(2, 1)], vec![1]),
        ("inactive", vec![Route { active: false, ..route(1, 1) }, route(2, 1)], vec![2]),
        ("source", vec![Route { source: Some(SourceId::from_u64(2)), ..route(1, 1) }, route(2, 1)], vec![2]),
        ("pattern", vec![Route { pattern: pattern("b.**"), ..route(1, 1) }, route(2, 1)], vec![2]),
        ("holds", vec![filtered(1, 1, "payload.n == 5"), route(2, 1)], vec![1]),
        ("does not hold", vec![filtered(1, 1, "payload.n == 6"), route(2, 1)], vec![2]),
        ("none holds", vec![filtered(1, 1, "payload.n == 6"), filtered(2, 1, "payload.n > 6")], vec![]),
        ("second holds", vec![filtered(1, 1, "payload.n == 6"), filtered(2, 1, "payload.n > 1")], vec![2]),
        ("both hold", vec![filtered(1, 1, "payload.n == 5"), filtered(2, 1, "payload.n > 1")], vec![1]),
        ("after plain", vec![route(1, 1), filtered(2, 1, "true"), filtered(3, 2, "true")], vec![1, 3]),
        ("fails", vec![filtered(1, 1, "payload.missing == 6"), route(2, 1)], vec![2]),
        ("other type", vec![filtered(1, 1, "payload.n"), route(2, 1)], vec![2]),
        ("not legal", vec![filtered(1, 1, "tomorrow("), route(2, 1)], vec![2]),
        ("type", vec![filtered(1, 1, "event.type == 'a.b' && event.source == 'shop'")], vec![1]),
        ("filter and pattern", vec![Route { pattern: pattern("b.**"), ..filtered(1, 1, "true") }], vec![]),
    ] {
        assert_eq!(taking(&catalog(&routes), br#"{"n": 5}"#), expected, "{name}");
    }
}

#[test]
fn a_filter_that_fails_is_counted_and_one_that_does_not_hold_is_not() {
    let catalog = catalog(&[filtered(1, 1, "payload.n > 5"), filtered(2, 2, "payload.n == 5"), route(3, 3)]);
    for body in [&br#"{"n": 5}"#[..], b"{}", b"no JSON", br#"{"n": "text"}"#] {
        taking(&catalog, body);
    }
    let failures = |id| catalog.filter_errors(RouteId::from_u64(id));
    assert_eq!([failures(1), failures(2), failures(3)], [Some(3), Some(2), None]);
}

#[test]
fn a_transform_is_found_by_its_route_as_long_as_the_route_has_it() {
    let transforming = Route { transform: Some("payload.n".into()), ..route(1, 1) };
    let mut catalog = catalog(&[transforming.clone(), route(2, 2)]);
    let found =
        |catalog: &Catalog| [1, 2].map(|id| catalog.routes.transforming(RouteId::from_u64(id)).is_some());
    assert_eq!(found(&catalog), [true, false]);
    catalog.apply(Change::PutRoute(route(1, 1)));
    assert_eq!(found(&catalog), [false, false]);
    catalog.apply(Change::PutRoute(transforming));
    catalog.apply(Change::DeleteRoute(RouteId::from_u64(1)));
    assert_eq!(found(&catalog), [false, false]);
}

#[test]
fn routes_stand_in_the_order_of_their_making_however_they_are_changed() {
    let mut catalog = catalog(&[route(5, 1), route(1, 2), route(3, 3), route(4, 4)]);
    let found = |catalog: &Catalog| -> Vec<u64> {
        catalog.routes(ACCOUNT).iter().map(|route| route.id.as_u64()).collect()
    };
    assert_eq!(found(&catalog), [1, 3, 4, 5]);
    catalog.apply(Change::PutRoute(Route { active: false, ..route(3, 3) }));
    catalog.apply(Change::PutRoute(route(2, 3)));
    assert_eq!(found(&catalog), [1, 2, 3, 4, 5]);
    assert!(catalog.route(ACCOUNT, RouteId::from_u64(3)).is_some_and(|route| !route.active));
    catalog.apply(Change::DeleteRoute(RouteId::from_u64(1)));
    catalog.apply(Change::DeleteRoute(RouteId::from_u64(1)));
    assert_eq!(found(&catalog), [2, 3, 4, 5]);
}

#[test]
fn routes_go_with_their_source_and_with_their_destination() {
    let of_source = Route { source: Some(SourceId::from_u64(1)), ..route(2, 2) };
    let mut catalog = catalog(&[route(1, 1), of_source, route(3, 3), route(4, 1)]);
    let id = DestinationId::from_u64(1);
    let destination =
        Destination::new(id, ACCOUNT, "a".into(), String::new(), String::new(), Timestamp::ZERO);
    catalog.apply(Change::PutSource(source(1)));
    catalog.apply(Change::PutDestination(Box::new(destination)));
    catalog.apply(Change::DeleteSource(SourceId::from_u64(1)));
    assert_eq!(taking(&catalog, b"{}"), [1, 3]);
    catalog.apply(Change::DeleteDestination(id));
    assert_eq!(taking(&catalog, b"{}"), [3]);
    let left = [1, 2, 3, 4].map(|id| catalog.route(ACCOUNT, RouteId::from_u64(id)).is_some());
    assert_eq!(left, [false, false, true, false]);
}

#[test]
fn routes_of_one_source_and_of_all_take_an_event_in_the_order_of_their_making() {
    let of = |source, id| Route { source: Some(SourceId::from_u64(source)), ..route(id, id) };
    let mut catalog = catalog(&[of(1, 6), route(2, 2), of(2, 3), of(1, 1), route(5, 5), of(1, 4)]);
    let sent = |catalog: &Catalog| -> Vec<u64> {
        catalog.matching(ACCOUNT, None, None).iter().map(|found| found.plan.route.id.as_u64()).collect()
    };
    assert_eq!((taking(&catalog, b"{}"), sent(&catalog)), (vec![1, 2, 4, 5, 6], vec![2, 5]));
    let other = catalog.matching(AccountId::from_u64(2), Some(SourceId::from_u64(1)), None);
    assert!(other.is_empty(), "another account's are never taken");
    // One is given another source, one all of them, and one a source.
    for moved in [of(2, 1), route(3, 3), of(2, 5)] {
        catalog.apply(Change::PutRoute(moved));
    }
    assert_eq!((taking(&catalog, b"{}"), sent(&catalog)), (vec![2, 3, 4, 6], vec![2, 3]));
    catalog.apply(Change::DeleteRoute(RouteId::from_u64(4)));
    assert_eq!(taking(&catalog, b"{}"), [2, 3, 6]);
}
