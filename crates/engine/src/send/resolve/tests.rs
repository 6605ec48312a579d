//! Names that are many, late or never answered for.

use super::name_cache::{ACCOUNT_NAMES_MAX, KNOWN_FOR, NAMES_MAX};
use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

const ACCOUNT: AccountId = AccountId::from_u64(1);
const OTHER: AccountId = AccountId::from_u64(2);

/// Answers by the name, and counts how often it was asked.
struct Scripted(Arc<AtomicUsize>);

#[async_trait]
impl Resolve for Scripted {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        match host {
            "many" => Ok((0..1000).map(|n| IpAddr::from([1, 1, (n >> 8) as u8, n as u8])).collect()),
            "none" => Ok(vec![]),
            // As many minutes as a search list of some length takes.
            never if never.starts_with("never") => {
                tokio::time::sleep(Duration::from_secs(120)).await;
                Err(io::Error::other("no name server has answered"))
            }
            "slow" => {
                tokio::time::sleep(Duration::from_secs(8)).await;
                Ok(vec![IpAddr::from([1, 1, 1, 2])])
            }
            "short" if self.0.load(Ordering::SeqCst) > 1 => Ok(vec![IpAddr::from([1, 1, 1, 3])]),
            "short" => Err(io::Error::other(Shortage::Threads)),
            "broken" => Err(io::Error::other("planted")),
            "panics" => panic!("planted by a test"),
            _ => Ok(vec![IpAddr::from([1, 1, 1, 1])]),
        }
    }
}

fn names() -> (Names, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    (Names::new(Arc::new(Scripted(Arc::clone(&asked)))), asked)
}

#[tokio::test(start_paused = true)]
async fn a_name_is_asked_for_once_and_used_up_to_a_bound() {
    let (names, asked) = names();
    for _ in 0..10 {
        assert_eq!(names.find(ACCOUNT, "many").await.unwrap().addresses.len(), ADDRESSES_MAX);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    names.forget("many");
    names.find(ACCOUNT, "many").await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn whatever_a_name_is_not_found_for_is_told_alike_and_at_the_same_time() {
    let (names, _) = names();
    for host in ["none", "never", "broken", "panics", "broken"] {
        let began = Instant::now();
        let problem = names.find(ACCOUNT, host).await.unwrap_err().problem();
        assert_eq!(problem.kind, ErrorKind::Dns);
        assert_eq!(problem.sentence, format!("The host {host} was not found: {NO_OPEN_ADDRESS}."));
        assert_eq!(began.elapsed(), DEADLINE, "{host}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_is_asked_for_once_however_many_want_it_and_give_up() {
    let (names, asked) = names();
    let impatient = || tokio::time::timeout(Duration::from_secs(1), names.find(ACCOUNT, "never"));
    for _ in 0..3 {
        let (one, other) = tokio::join!(impatient(), impatient());
        assert!(one.is_err() && other.is_err(), "they gave up before it did");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let problem = names.find(ACCOUNT, "never").await.unwrap_err().problem();
    assert_eq!(problem, no_open_address("never"));
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert!(locked(&names.book).under_way.is_empty(), "the next may ask again");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_breaks_off_is_asked_again() {
    let (names, asked) = names();
    for times in 1..=2 {
        names.find(ACCOUNT, "panics").await.unwrap_err();
        assert_eq!(asked.load(Ordering::SeqCst), times);
    }
}

/// Has so many names looked up.
async fn fill(names: &Names, account: AccountId, count: usize) {
    for number in 0..count {
        names.find(account, &format!("host-{number}.{account}")).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_account_with_many_names_has_its_own_forgotten_and_none_of_another() {
    let (names, asked) = names();
    names.find(OTHER, "host").await.unwrap();
    fill(&names, ACCOUNT, 3 * NAMES_MAX).await;
    assert_eq!(locked(&names.book).cache.len(), 1 + ACCOUNT_NAMES_MAX);
    let before = asked.load(Ordering::SeqCst);
    names.find(OTHER, "host").await.unwrap();
    names.find(ACCOUNT, &format!("host-{}.{ACCOUNT}", 3 * NAMES_MAX - 1)).await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), before, "both are remembered");
}

#[tokio::test(start_paused = true)]
async fn no_more_names_are_remembered_than_there_is_room_for_and_who_has_most_makes_it() {
    let (names, asked) = names();
    names.find(OTHER, "host").await.unwrap();
    for account in 10..20 {
        fill(&names, AccountId::from_u64(account), ACCOUNT_NAMES_MAX).await;
        assert!(locked(&names.book).cache.len() <= NAMES_MAX);
    }
    let before = asked.load(Ordering::SeqCst);
    names.find(OTHER, "host").await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), before, "it is remembered");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_late_is_used_by_the_next() {
    let (names, asked) = names();
    names.find(ACCOUNT, "slow").await.unwrap_err();
    let again = timeout(Duration::from_secs(1), names.find(ACCOUNT, "slow")).await;
    assert!(again.is_err(), "whoever joins a lookup that is late waits as long");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(*names.find(OTHER, "slow").await.unwrap().addresses, [IpAddr::from([1, 1, 1, 2])]);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_could_not_be_asked_for_is_not_remembered_as_unknown() {
    let (names, asked) = names();
    let failure = names.find(ACCOUNT, "short").await.unwrap_err();
    assert!(matches!(failure, Failure::Shortage(Shortage::Threads)), "{failure:?}");
    assert_eq!(*names.find(ACCOUNT, "short").await.unwrap().addresses, [IpAddr::from([1, 1, 1, 3])]);
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

/// Has so many names looked up for an account that get no answer, and goes on asking.
async fn many_without_an_answer(names: &Names, account: AccountId, count: usize) {
    for number in 0..count {
        let (names, host) = (names.clone(), format!("never-{number}.{account}"));
        tokio::spawn(async move {
            loop {
                let _ = timeout(Duration::from_secs(10), names.find(account, &host)).await;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
    }
    tokio::task::yield_now().await;
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_names_without_an_answer_keep_no_other_account_waiting() {
    let (names, asked) = names();
    many_without_an_answer(&names, ACCOUNT, 10_000).await;
    let started = Instant::now();
    for number in 0..600 {
        names.find(OTHER, &format!("host-{number}")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(started.elapsed(), Duration::from_secs(60), "no lookup has waited");
    assert_eq!(
        asked.load(Ordering::SeqCst),
        600 + 57,
        "the one account has its part of the lookups, no more"
    );
    let problem = names.find(ACCOUNT, "host").await.unwrap_err().problem();
    assert_eq!(
        problem.sentence,
        "The host host was not found: it could not be looked up within 6 s, since too many other names of the account \
         get no answer."
    );
}

#[tokio::test(start_paused = true)]
async fn names_without_an_answer_do_not_hide_those_that_had_one() {
    let (names, _) = names();
    names.find(ACCOUNT, "host").await.unwrap();
    many_without_an_answer(&names, ACCOUNT, 1000).await;
    tokio::time::sleep(KNOWN_FOR).await;
    let started = Instant::now();
    names.find(ACCOUNT, "host").await.unwrap();
    assert_eq!(started.elapsed(), OLDER_AFTER, "the older answer");
    let is_current = || matches!(locked(&names.book).cache.find("host"), Remembered::Current(Ok(_)));
    while !is_current() {
        assert!(
            started.elapsed() < Duration::from_secs(95),
            "its turn comes as soon as one of the others ends"
        );
        names.find(ACCOUNT, "host").await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
