//! Looks names up, under a deadline of its own, and remembers the answers for a moment.
//!
//! What is remembered opens no hole: whether an address may be dialled is asked of each address at each dial.

use super::connect::problem;
use async_trait::async_trait;
use postrider_store::{ErrorKind, Problem};
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

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
    known: Mutex<HashMap<String, (Answer, Instant)>>,
}

impl Names {
    pub(crate) fn new(resolver: Arc<dyn Resolve>) -> Self {
        Names { resolver, known: Mutex::default() }
    }

    pub(crate) async fn find(&self, host: &str) -> Result<Arc<[IpAddr]>, Problem> {
        let answer = match self.remembered(host) {
            Some(answer) => answer,
            None => self.ask(host).await,
        };
        answer.map_err(|why| problem(ErrorKind::Dns, format!("The host {host} was not found: {why}.")))
    }

    /// What was remembered led nowhere; the next attempt asks anew.
    pub(crate) fn forget(&self, host: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(host);
    }

    fn remembered(&self, host: &str) -> Option<Answer> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(host).filter(|(_, until)| Instant::now() < *until).map(|(answer, _)| answer.clone())
    }

    async fn ask(&self, host: &str) -> Answer {
        let found = tokio::time::timeout(DEADLINE, self.resolver.resolve(host)).await;
        let answer = match found {
            Ok(Ok(found)) if found.is_empty() => Err("it has no address".to_owned()),
            Ok(Ok(found)) => Ok(found.into_iter().take(ADDRESSES_MAX).collect()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_elapsed) => Err(format!("no answer within {} s", DEADLINE.as_secs())),
        };
        self.remember(host, answer.clone());
        answer
    }

    fn remember(&self, host: &str, answer: Answer) {
        let now = Instant::now();
        let until = now + if answer.is_ok() { KNOWN_FOR } else { UNKNOWN_FOR };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= NAMES_MAX {
            known.retain(|_, (_, until)| now < *until);
        }
        if known.len() >= NAMES_MAX {
            // So many live names at once are rare, and asking again is all that it costs.
            known.clear();
        }
        known.insert(host.to_owned(), (answer, until));
    }
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

    #[tokio::test]
    async fn no_more_names_are_remembered_than_there_is_room_for() {
        let (names, _) = names();
        for n in 0..3 * NAMES_MAX {
            names.find(&format!("host-{n}")).await.unwrap();
            assert!(names.known.lock().unwrap().len() <= NAMES_MAX);
        }
    }
}
