//! Looks names up, under a deadline of its own, and remembers the answers for a moment.
//!
//! What is remembered opens no hole: whether an address may be dialled is asked of each address at each dial.

use super::connect::problem;
use async_trait::async_trait;
use postrider_store::{ErrorKind, Problem};
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Who knows the addresses of names.
#[async_trait]
pub trait Resolve: Send + Sync + 'static {
    /// All addresses of a name.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's own resolver, with its hosts file and search list.
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((host, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// A name with more addresses than this is tried at the first of them only.
const ADDRESSES_MAX: usize = 8;
/// Longer than the usual resolver waits before it asks a second server.
const DEADLINE: Duration = Duration::from_secs(6);
/// How long an answer is believed. Short against the usual time to live, so that a move is noticed.
const KNOWN_FOR: Duration = Duration::from_secs(30);
/// The same for a name that was not found.
const UNKNOWN_FOR: Duration = Duration::from_secs(2);
/// Names remembered at once.
const NAMES_MAX: usize = 1024;

/// The addresses of a name, or why there are none.
type Answer = Result<Arc<[IpAddr]>, String>;

pub(crate) struct Names {
    resolver: Arc<dyn Resolve>,
    book: Arc<Mutex<Book>>,
}

#[derive(Default)]
struct Book {
    known: HashMap<String, (Answer, Instant)>,
    /// Names that somebody is asking for. Nobody can call the system's resolver back: whoever gives up on an answer leaves a
    /// thread and a socket behind until it comes. So all who want a name wait for the same one.
    asked: HashMap<String, Asked>,
}

type Asked = watch::Receiver<Option<Answer>>;

impl Names {
    pub(crate) fn new(resolver: Arc<dyn Resolve>) -> Self {
        Names { resolver, book: Arc::default() }
    }

    pub(crate) async fn find(&self, host: &str) -> Result<Arc<[IpAddr]>, Problem> {
        let answer = match self.known_or_asked(host) {
            Ok(answer) => answer,
            Err(mut asked) => told(&mut asked).await,
        };
        answer.map_err(|why| problem(ErrorKind::Dns, format!("The host {host} was not found: {why}.")))
    }

    /// What was remembered led nowhere; the next attempt asks anew.
    pub(crate) fn forget(&self, host: &str) {
        locked(&self.book).known.remove(host);
    }

    /// What is remembered, or where it will be told.
    fn known_or_asked(&self, host: &str) -> Result<Answer, Asked> {
        let mut book = locked(&self.book);
        if let Some(answer) = book.remembered(host) {
            return Ok(answer);
        }
        if let Some(asked) = book.asked.get(host) {
            return Err(asked.clone());
        }
        let (tell, asked) = watch::channel(None);
        book.asked.insert(host.to_owned(), asked.clone());
        let asking = Asking { book: Arc::clone(&self.book), host: host.to_owned(), tell };
        // A task of its own: it goes on when the attempt that began it is given up.
        tokio::spawn(asking.ask(Arc::clone(&self.resolver)));
        Err(asked)
    }
}

impl Book {
    fn remembered(&self, host: &str) -> Option<Answer> {
        self.known.get(host).filter(|(_, until)| Instant::now() < *until).map(|(answer, _)| answer.clone())
    }

    fn remember(&mut self, host: &str, answer: Answer) {
        let now = Instant::now();
        let until = now + if answer.is_ok() { KNOWN_FOR } else { UNKNOWN_FOR };
        if self.known.len() >= NAMES_MAX {
            self.known.retain(|_, (_, until)| now < *until);
        }
        if self.known.len() >= NAMES_MAX {
            // So many live names at once are rare, and asking again is all that it costs.
            self.known.clear();
        }
        self.known.insert(host.to_owned(), (answer, until));
    }
}

/// One question to the resolver. However it ends, the next who wants the name may ask again.
struct Asking {
    book: Arc<Mutex<Book>>,
    host: String,
    tell: watch::Sender<Option<Answer>>,
}

impl Asking {
    async fn ask(self, resolver: Arc<dyn Resolve>) {
        let found = tokio::time::timeout(DEADLINE, resolver.resolve(&self.host)).await;
        let answer = match found {
            Ok(Ok(found)) if found.is_empty() => Err("it has no address".to_owned()),
            Ok(Ok(found)) => Ok(found.into_iter().take(ADDRESSES_MAX).collect()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_elapsed) => Err(format!("no answer within {} s", DEADLINE.as_secs())),
        };
        locked(&self.book).remember(&self.host, answer.clone());
        self.tell.send_replace(Some(answer));
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        locked(&self.book).asked.remove(&self.host);
    }
}

async fn told(asked: &mut Asked) -> Answer {
    let told = asked.wait_for(Option::is_some).await.map(|answer| answer.clone());
    told.ok().flatten().unwrap_or_else(|| Err("the question broke off".to_owned()))
}

fn locked(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Answers by the name, and counts how often it was asked.
    struct Scripted(Arc<AtomicUsize>);

    #[async_trait]
    impl Resolve for Scripted {
        async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
            self.0.fetch_add(1, Ordering::SeqCst);
            match host {
                "many" => Ok((0..1000).map(|n| IpAddr::from([1, 1, (n >> 8) as u8, n as u8])).collect()),
                "none" => Ok(vec![]),
                "never" => std::future::pending().await,
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
            assert_eq!(names.find("many").await.unwrap().len(), ADDRESSES_MAX);
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        names.forget("many");
        names.find("many").await.unwrap();
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_found_in_time_is_told_as_a_problem_of_the_name() {
        let (names, _) = names();
        for (host, why) in
            [("none", "it has no address"), ("never", "no answer within 6 s"), ("broken", "planted")]
        {
            let problem = names.find(host).await.unwrap_err();
            assert_eq!(problem.kind, ErrorKind::Dns);
            assert_eq!(problem.sentence, format!("The host {host} was not found: {why}."));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_is_asked_for_once_however_many_want_it_and_give_up() {
        let (names, asked) = names();
        let impatient = || tokio::time::timeout(Duration::from_secs(1), names.find("never"));
        for _ in 0..3 {
            let (one, other) = tokio::join!(impatient(), impatient());
            assert!(one.is_err() && other.is_err(), "they gave up before it did");
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        let problem = names.find("never").await.unwrap_err();
        assert_eq!(problem.sentence, "The host never was not found: no answer within 6 s.");
        assert!(locked(&names.book).asked.is_empty(), "the next may ask again");
    }

    #[tokio::test]
    async fn a_question_that_breaks_off_is_told_and_asked_again() {
        let (names, asked) = names();
        for times in 1..=2 {
            let problem = names.find("panics").await.unwrap_err();
            assert_eq!(problem.sentence, "The host panics was not found: the question broke off.");
            assert_eq!(asked.load(Ordering::SeqCst), times);
        }
    }

    #[tokio::test]
    async fn no_more_names_are_remembered_than_there_is_room_for() {
        let (names, _) = names();
        for n in 0..3 * NAMES_MAX {
            names.find(&format!("host-{n}")).await.unwrap();
            assert!(locked(&names.book).known.len() <= NAMES_MAX);
        }
    }
}
