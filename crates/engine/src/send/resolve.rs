//! Looks names up, under a deadline of its own, and remembers the answers for a moment.
//!
//! What is remembered opens no hole: whether an address may be dialled is asked of each address at each dial.

mod name_cache;

use super::connect::problem;
use super::lookups::{LOOKUPS_MAX, Lookups, Permit, Turn};
use super::shortage::{Failure, Shortage};
use async_trait::async_trait;
use name_cache::{NameCache, Remembered};
use postrider_core::id::AccountId;
use postrider_store::containment::{contain, contained};
use postrider_store::{ErrorKind, Problem};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout};

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
    /// On a thread of its own: one of the runtime's would keep a stop waiting until the last name server has answered.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let (answer, answered) = oneshot::channel();
        let host = host.to_owned();
        let look_up = move || {
            let _ = answer.send(look_up_now(&host));
        };
        let begun = std::thread::Builder::new().name("name-lookup".into()).spawn(|| contain(look_up));
        begun.map_err(|_| io::Error::other(Shortage::Threads))?;
        answered.await.unwrap_or_else(|_| Err(io::Error::other("the lookup broke off")))
    }
}

/// Whether there are descriptors for it is looked at right before and right behind it: a moment later there may be some again.
fn look_up_now(host: &str) -> io::Result<Vec<IpAddr>> {
    if let Some(shortage) = Shortage::of_lookup() {
        return Err(io::Error::other(shortage));
    }
    let found = (host, 0).to_socket_addrs();
    let found = found.map(|found| found.map(|address| address.ip()).collect());
    found.map_err(|error| Shortage::of_lookup().map_or(error, io::Error::other))
}

/// A name with more addresses than this is tried at the first of them only.
const ADDRESSES_MAX: usize = 8;
/// Longer than the usual resolver waits before it asks a second server.
const DEADLINE: Duration = Duration::from_secs(6);
/// How long a new answer is waited for where there is an older one, which is then used instead.
const OLDER_AFTER: Duration = Duration::from_secs(1);
/// The addresses of a name, or why there are none.
type Answer = Result<Arc<[IpAddr]>, Unknown>;

/// Why there are no addresses.
#[derive(Clone, Debug)]
enum Unknown {
    /// It does not exist, or its answer is late, or the lookup broke off: the log says which, and nobody else may know.
    NotFound,
    /// It was not even asked for.
    Crowded,
    /// Nobody could be asked.
    Shortage(Shortage),
}

/// The addresses of a name.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) addresses: Arc<[IpAddr]>,
    /// When to refuse, if none of these may be dialled: a name that does not exist is refused at the same time.
    pub(crate) refused_at: Instant,
}

#[derive(Clone)]
pub(crate) struct Names {
    resolver: Arc<dyn Resolve>,
    lookups: Lookups,
    book: Arc<Mutex<Book>>,
}

#[derive(Default)]
struct Book {
    cache: NameCache,
    /// Whoever of an account wants a name waits for the same lookup, and no second one starts before it has returned.
    under_way: HashMap<(AccountId, String), Arc<watch::Sender<Progress>>>,
}

enum Progress {
    Queued,
    Running,
    /// There is no answer in time; the lookup goes on.
    Late,
    Done(Answer),
}

impl Names {
    pub(crate) fn new(resolver: Arc<dyn Resolve>) -> Self {
        Names { resolver, lookups: Lookups::new(LOOKUPS_MAX), book: Arc::default() }
    }

    /// The addresses of a name that this account sends to. A lookup without an address fails at its deadline and not
    /// before: an earlier failure would show whether the name exists in the operator's network.
    pub(crate) async fn find(&self, account: AccountId, host: &str) -> Result<Found, Failure> {
        let remembered = locked(&self.book).cache.find(host);
        let (answer, began) = match remembered {
            Remembered::Current(answer) => (answer, Instant::now()),
            Remembered::Older(addresses) => {
                let older = || (Ok(Arc::clone(&addresses)), Instant::now());
                match timeout(OLDER_AFTER, self.look_up(account, host, Turn::Known)).await {
                    Ok((Err(Unknown::Crowded | Unknown::Shortage(_)), _)) | Err(_) => older(),
                    Ok(newer) => newer,
                }
            }
            Remembered::Nothing => self.look_up(account, host, Turn::Unknown).await,
        };
        let refused_at = began + DEADLINE;
        match answer {
            Ok(addresses) => Ok(Found { addresses, refused_at }),
            Err(Unknown::NotFound) => {
                sleep_until(refused_at).await;
                Err(no_open_address(host).into())
            }
            Err(Unknown::Crowded) => Err(queued_too_long(host).into()),
            Err(Unknown::Shortage(shortage)) => Err(Failure::Shortage(shortage)),
        }
    }

    /// What was remembered led nowhere; the next attempt asks anew.
    pub(crate) fn forget(&self, host: &str) {
        locked(&self.book).cache.forget(host);
    }

    /// The resolver's answer, and since when it was waited for: not while others were.
    async fn look_up(&self, account: AccountId, host: &str, turn: Turn) -> (Answer, Instant) {
        let mut progress = self.begin(account, host, turn);
        let started = progress.wait_for(|progress| !matches!(progress, Progress::Queued));
        if timeout(DEADLINE, started).await.is_err() {
            return (Err(Unknown::Crowded), Instant::now());
        }
        let began = Instant::now();
        let ended =
            progress.wait_for(|progress| matches!(progress, Progress::Late | Progress::Done(_))).await;
        let answer = match ended.as_deref() {
            Ok(Progress::Done(answer)) => answer.clone(),
            Ok(_) => unknown(host, "no answer in time"),
            Err(_) => unknown(host, "the lookup broke off"),
        };
        (answer, began)
    }

    /// Joins the lookup of this name that is under way for the account, or starts one.
    fn begin(&self, account: AccountId, host: &str, turn: Turn) -> watch::Receiver<Progress> {
        let mut book = locked(&self.book);
        let key = (account, host.to_owned());
        if let Some(under_way) = book.under_way.get(&key) {
            return under_way.subscribe();
        }
        let (progress, watched) = watch::channel(Progress::Queued);
        let progress = Arc::new(progress);
        book.under_way.insert(key, Arc::clone(&progress));
        let lookup = Lookup { names: self.clone(), account, host: host.to_owned(), progress };
        // A task of its own: it goes on when the attempt that began it is given up.
        tokio::spawn(contained(lookup.run(turn)));
        watched
    }
}

fn unknown(host: &str, why: &str) -> Answer {
    tracing::debug!(host, why, "the receiver's name was not found");
    Err(Unknown::NotFound)
}

fn is_short(answer: &Answer) -> bool {
    matches!(answer, Err(Unknown::Shortage(_)))
}

fn queued_too_long(host: &str) -> Problem {
    let seconds = DEADLINE.as_secs();
    let sentence = format!(
        "The host {host} was not found: it could not be looked up within {seconds} s, since too many other names of the \
         account get no answer."
    );
    problem(ErrorKind::Dns, sentence)
}

impl Book {
    fn end(&mut self, lookup: &Lookup) {
        let key = (lookup.account, lookup.host.clone());
        // Another may have begun since.
        if self.under_way.get(&key).is_some_and(|found| Arc::ptr_eq(found, &lookup.progress)) {
            self.under_way.remove(&key);
        }
    }
}

/// One lookup of a name for an account. However it ends, the next who wants the name may ask again.
struct Lookup {
    names: Names,
    account: AccountId,
    host: String,
    progress: Arc<watch::Sender<Progress>>,
}

impl Lookup {
    async fn run(self, turn: Turn) {
        let Some(permit) = self.permit(turn).await else { return };
        // Another account may have had the answer meanwhile.
        let remembered = locked(&self.names.book).cache.find(&self.host);
        if let Remembered::Current(answer) = remembered {
            self.progress.send_replace(Progress::Done(answer));
            return;
        }
        self.progress.send_replace(Progress::Running);
        let mut found = self.names.resolver.resolve(&self.host);
        if let Ok(found) = timeout(DEADLINE, &mut found).await {
            let answer = answer(&self.host, found);
            locked(&self.names.book).cache.put(self.account, &self.host, answer.clone());
            self.progress.send_replace(Progress::Done(answer));
        } else {
            self.progress.send_replace(Progress::Late);
            // Its thread is still there. Until that has ended it counts, and nobody starts another for this name.
            let late = answer(&self.host, found.await);
            locked(&self.names.book).cache.put_late(self.account, &self.host, late);
        }
        drop(permit);
    }

    /// None when nobody waits for the name any more, and it never had an answer. A name that had one keeps its turn: its
    /// attempts wait a second for it and go on with the older addresses, and would lose the turn each time.
    async fn permit(&self, turn: Turn) -> Option<Permit> {
        let mut permit = pin!(self.names.lookups.permit(self.account, turn));
        if turn == Turn::Known {
            return Some(permit.await);
        }
        loop {
            tokio::select! {
                permit = &mut permit => return Some(permit),
                () = self.progress.closed() => {}
            }
            let mut book = locked(&self.names.book);
            // Under the lock nobody can join.
            if self.progress.receiver_count() == 0 {
                book.end(self);
                return None;
            }
        }
    }
}

impl Drop for Lookup {
    fn drop(&mut self) {
        locked(&self.names.book).end(self);
    }
}

/// One sentence for a name that does not exist, for one that gets no answer and for one whose addresses are all closed.
/// Otherwise whoever may name a destination could list the names of the operator's own network.
const NO_OPEN_ADDRESS: &str = "it has no address that is open to deliveries, or name servers do not answer; an operator \
                               can open a range with --egress-allow, and sees more in the log with --log debug";

/// A name leads to no address that may be dialled.
pub(super) fn no_open_address(host: &str) -> Problem {
    problem(ErrorKind::Dns, format!("The host {host} was not found: {NO_OPEN_ADDRESS}."))
}

fn answer(host: &str, found: io::Result<Vec<IpAddr>>) -> Answer {
    match found {
        Ok(found) if !found.is_empty() => Ok(found.into_iter().take(ADDRESSES_MAX).collect()),
        Ok(_) => unknown(host, "it has no address"),
        Err(error) => match Shortage::of(&error) {
            Some(shortage) => Err(Unknown::Shortage(shortage)),
            None => unknown(host, &error.to_string()),
        },
    }
}

fn locked(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
