//! A way to the database that can be cut, held up, or broken at the worst moment.

use super::loopback;
use super::wait::let_pass;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// COMMIT as a client says it.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";
const LISTEN: &[u8] = b"LISTEN ";
/// The channel of a notification, as the server names it behind the number of who sent it. No other answer on a
/// connection that listens has a name in it that ends like this.
const NOTIFICATION: &[u8] = b"postrider\0";
/// What only the transaction of a batch begins with, which other statements are sent with.
const BATCH: &[u8] = b"SET LOCAL enable_seqscan";

/// The way itself; threads of its own carry the bytes.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// What becomes of commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commits {
    /// Nothing.
    Pass,
    /// The connection breaks before the server hears of it.
    LostBefore,
    /// The server hears of it, and the connection breaks while it is being made.
    LostDuring,
    /// The server makes it durable, and the connection breaks before its answer is heard.
    LostAfter,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Where the way leads.
    server: PathBuf,
    /// Nobody gets through, and who was through is cut off.
    cut: bool,
    /// Bytes wait, and connections stay open.
    stalled: bool,
    /// Each piece of an answer waits for so long.
    delay: Duration,
    commits: Commits,
    /// Only the COMMIT of a batch is lost, and with it bytes wait everywhere.
    halts: bool,
    /// Connections that broke at a commit.
    broken: usize,
    /// What is said on connections that listen is not heard.
    deaf: bool,
    /// Answers with notifications that were not heard.
    unheard: usize,
}

impl Proxy {
    /// To the server at a socket.
    pub fn start(server: &Path) -> Self {
        let listener = TcpListener::bind(loopback::fresh()).expect("the address is ours alone");
        let state = State {
            server: server.to_owned(),
            cut: false,
            stalled: false,
            delay: Duration::ZERO,
            commits: Commits::Pass,
            halts: false,
            broken: 0,
            deaf: false,
            unheard: 0,
        };
        let shared = Shared { state: Mutex::new(state), changed: Condvar::new() };
        let (shared, address) = (Arc::new(shared), listener.local_addr().unwrap());
        let accepting = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, &accepting));
        Proxy { address, shared }
    }

    /// Where it begins.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A database's URL by this way.
    pub fn url(&self, direct: &str) -> String {
        let name = direct.split('?').next().and_then(|base| base.rsplit('/').next()).unwrap();
        format!("postgres://postrider@{}/{name}?sslmode=disable", self.address)
    }

    /// Whoever comes from now on gets to another server.
    pub fn lead_to(&self, server: &Path) {
        self.change(|state| state.server = server.to_owned());
    }

    /// Nobody gets through, and who was through is cut off.
    pub fn cut(&self) {
        self.change(|state| state.cut = true);
    }

    /// Bytes wait, and connections stay open.
    pub fn stall(&self) {
        self.change(|state| state.stalled = true);
    }

    /// All goes through again, at once.
    pub fn restore(&self) {
        self.change(|state| (state.cut, state.stalled, state.delay) = (false, false, Duration::ZERO));
    }

    /// Each piece of an answer waits for so long.
    pub fn delay(&self, delay: Duration) {
        self.change(|state| state.delay = delay);
    }

    /// What becomes of commits from now on.
    pub fn commits(&self, commits: Commits) {
        self.change(|state| (state.commits, state.halts) = (commits, false));
    }

    /// What becomes of the next batch. With its COMMIT bytes wait everywhere, so that whoever made it does not get beyond
    /// this moment.
    pub fn halt_at_batch(&self, commits: Commits) {
        self.change(|state| (state.commits, state.halts) = (commits, true));
    }

    /// What is said on connections that listen is not heard.
    pub fn lose_notifications(&self) {
        self.change(|state| state.deaf = true);
    }

    /// Answers with notifications that were not heard.
    pub fn unheard(&self) -> usize {
        self.shared.state().unheard
    }

    /// Connections that broke at a commit.
    pub fn broken(&self) -> usize {
        self.shared.state().broken
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.shared.state());
        self.shared.changed.notify_all();
    }
}

impl State {
    /// Has become of a COMMIT what was asked for.
    fn lose(&mut self) -> Commits {
        if self.commits != Commits::Pass {
            self.broken += 1;
            self.stalled |= self.halts;
        }
        self.commits
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Waits while bytes are held up; `false` when the way is cut.
    fn lets_through(&self) -> bool {
        let state = self.changed.wait_while(self.state(), |state| state.stalled && !state.cut).unwrap();
        !state.cut
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming().flatten() {
        let server = shared.state().server.clone();
        let Ok(server) = UnixStream::connect(server) else { continue };
        if shared.state().cut {
            continue;
        }
        let pair = Arc::new(Pair { client, server, fate: Mutex::new(Fate::Lives) });
        let _ = pair.client.set_nodelay(true);
        for way in [Way::Asks, Way::Answers, Way::Watched] {
            let (pair, shared) = (Arc::clone(&pair), Arc::clone(shared));
            thread::spawn(move || {
                match way {
                    Way::Asks => drop(pair.ask(&shared)),
                    Way::Answers => drop(pair.answer(&shared)),
                    Way::Watched => pair.watch(&shared),
                }
                pair.end();
                shared.changed.notify_all();
            });
        }
    }
}

enum Way {
    Asks,
    Answers,
    Watched,
}

/// A connection and its other half.
struct Pair {
    client: TcpStream,
    server: UnixStream,
    fate: Mutex<Fate>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Lives,
    /// The next answer is not heard: with it the connection ends.
    EndsWithAnswer,
    /// Answers are not heard.
    Deaf,
    Ended,
}

impl Pair {
    fn ask(&self, shared: &Shared) -> std::io::Result<()> {
        let (mut buffer, mut is_batch) = ([0; 64 * 1024], false);
        loop {
            let count = (&self.client).read(&mut buffer)?;
            if count == 0 || !shared.lets_through() {
                return Ok(());
            }
            let said = &buffer[..count];
            let mut state = shared.state();
            if state.deaf && contains(said, LISTEN) {
                *self.fate.lock().unwrap() = Fate::Deaf;
            }
            is_batch |= contains(said, BATCH);
            let is_meant = contains(said, COMMIT) && (std::mem::take(&mut is_batch) || !state.halts);
            let commits = if is_meant { state.lose() } else { Commits::Pass };
            drop(state);
            match commits {
                Commits::LostBefore => return Ok(()),
                Commits::LostDuring => return (&self.server).write_all(said),
                Commits::LostAfter => *self.fate.lock().unwrap() = Fate::EndsWithAnswer,
                Commits::Pass => {}
            }
            (&self.server).write_all(said)?;
        }
    }

    fn answer(&self, shared: &Shared) -> std::io::Result<()> {
        let mut buffer = [0; 64 * 1024];
        loop {
            let count = (&self.server).read(&mut buffer)?;
            let delay = shared.state().delay;
            let_pass(delay);
            let fate = *self.fate.lock().unwrap();
            if count == 0 || fate == Fate::EndsWithAnswer || !shared.lets_through() {
                return Ok(());
            }
            let said = &buffer[..count];
            if fate == Fate::Deaf {
                shared.state().unheard += usize::from(contains(said, NOTIFICATION));
            } else {
                (&self.client).write_all(said)?;
            }
        }
    }

    /// Ends it when the way is cut.
    fn watch(&self, shared: &Shared) {
        let lives = |state: &mut State| !state.cut && *self.fate.lock().unwrap() != Fate::Ended;
        drop(shared.changed.wait_while(shared.state(), lives).unwrap());
    }

    fn end(&self) {
        *self.fate.lock().unwrap() = Fate::Ended;
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
