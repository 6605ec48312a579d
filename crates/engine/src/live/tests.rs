//! Who is told what, and what becomes of a watcher that does not read.

use super::*;
use postrider_core::breaker::CircuitRecord;
use postrider_core::delivery::Priority;
use postrider_core::event::EventType;
use postrider_core::id::{DeliveryId, DestinationId, SourceId};
use postrider_core::pattern::EventPattern;
use postrider_core::time::Timestamp;
use postrider_store::Origin;

const OURS: AccountId = AccountId::from_u64(1);
const THEIRS: AccountId = AccountId::from_u64(2);

fn accepted(id: u64, account: AccountId) -> Happening {
    Happening::Accepted(AcceptedEvent {
        id: EventId::from_u64(id),
        marks: EventMarks {
            account,
            origin: Origin::Source(SourceId::from_u64(7)),
            event_type: Some(EventType::parse("order.paid").unwrap()),
        },
        external_id: None,
        replay_of: None,
        received_at: Timestamp::ZERO,
        body_bytes: 0,
        deliveries: vec![(DeliveryId::from_u64(id), DestinationId::from_u64(9), Priority::Normal)],
        deliveries_count: 1,
    })
}

fn circuit(destination: u64) -> Happening {
    let (record, at) = (CircuitRecord::default(), Timestamp::ZERO);
    Happening::Circuit(CircuitMove {
        account: OURS,
        destination: DestinationId::from_u64(destination),
        record,
        at,
    })
}

fn id(told: Option<Told>) -> u64 {
    match told {
        Some(Told::Happened(happening)) => match &*happening {
            Happening::Accepted(event) => event.id.as_u64(),
            other => panic!("{other:?} was not accepted"),
        },
        other => panic!("{other:?} did not happen"),
    }
}

#[tokio::test]
async fn a_watcher_that_does_not_read_is_told_how_much_it_missed() {
    let live = Live::new(0);
    let mut watch = live.watch(LiveFilter::all_of(Some(OURS))).unwrap();
    let most = STREAM_QUEUE_MAX as u64;
    (0..most + 5).for_each(|id| live.tell(accepted(id, OURS)));
    live.tell(accepted(0, THEIRS));
    assert_eq!(id(watch.next().await), 0);
    assert_eq!(id(watch.next().await), 1);
    live.tell(accepted(most + 5, OURS));
    for expected in 2..most {
        assert_eq!(id(watch.next().await), expected);
    }
    assert!(matches!(watch.next().await, Some(Told::Missed(5))), "in its place, and of its own alone");
    assert_eq!(id(watch.next().await), most + 5);
    (0..most + 1).for_each(|id| live.tell(accepted(id, OURS)));
    for expected in 0..most {
        assert_eq!(id(watch.next().await), expected);
    }
    assert!(matches!(watch.next().await, Some(Told::Missed(1))), "also when nothing follows");
}

#[tokio::test]
async fn nobody_is_told_once_the_watch_is_dropped_or_the_gateway_stops() {
    let live = Live::new(41);
    assert!(!live.is_watched());
    let watch = live.watch(LiveFilter::all_of(None)).unwrap();
    assert!(live.is_watched() && watch.since == EventId::from_u64(41));
    drop(watch);
    assert!(!live.is_watched());
    live.note_accepted(EventId::from_u64(50));
    let mut watch = live.watch(LiveFilter::all_of(None)).unwrap();
    assert_eq!(watch.since, EventId::from_u64(50));
    live.tell(accepted(51, THEIRS));
    live.close();
    assert_eq!(id(watch.next().await), 51);
    assert!(watch.next().await.is_none());
}

#[test]
fn there_are_so_many_watchers_of_an_account_and_over_all() {
    let live = Live::new(0);
    let of = |account: u64| live.watch(LiveFilter::all_of(Some(AccountId::from_u64(account))));
    let mut held: Vec<Watch> = (0..STREAMS_PER_ACCOUNT_MAX).map(|_| of(1).unwrap()).collect();
    assert_eq!(of(1).err(), Some(Crowded::Account));
    held.pop();
    held.push(of(1).unwrap());
    for account in 2.. {
        match of(account) {
            Ok(watch) => held.push(watch),
            Err(crowded) => {
                assert_eq!(crowded, Crowded::Gateway);
                break;
            }
        }
    }
    assert_eq!(held.len(), STREAMS_MAX);
}

#[test]
fn a_filter_takes_what_fits_all_of_it() {
    let all = LiveFilter::all_of(Some(OURS));
    let types = |text| Some(EventPattern::parse(text).unwrap());
    let (source, destination) = (|id| Some(SourceId::from_u64(id)), |id| Some(DestinationId::from_u64(id)));
    for (filter, of_event, of_circuit) in [
        (all.clone(), true, true),
        (LiveFilter { account: Some(THEIRS), ..all.clone() }, false, false),
        (LiveFilter { account: None, ..all.clone() }, true, true),
        (LiveFilter { kinds: vec![HappeningKind::Circuit], ..all.clone() }, false, true),
        (LiveFilter { source: source(7), ..all.clone() }, true, false),
        (LiveFilter { source: source(8), ..all.clone() }, false, false),
        (LiveFilter { destination: destination(9), ..all.clone() }, true, true),
        (LiveFilter { destination: destination(8), ..all.clone() }, false, false),
        (LiveFilter { event_type: types("order.*"), ..all.clone() }, true, false),
        (LiveFilter { event_type: types("user.*"), ..all.clone() }, false, false),
    ] {
        assert_eq!(filter.fits(&accepted(1, OURS)), of_event, "{filter:?}");
        assert_eq!(filter.fits(&circuit(9)), of_circuit, "{filter:?}");
    }
}
