//! A receiver that remembers everything: when a request came and went, its bytes, and how many there were at once.

use super::reply::Reply;
use super::wait::PATIENCE;
use super::wire::{Headers, Message};
use postrider_torture::rig::listener::{Receiver, listen};
use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A request that arrived whole.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) path: String,
    pub(crate) headers: Headers,
    pub(crate) body: Vec<u8>,
    pub(crate) began_at: Instant,
    /// When its answer was about to be written.
    pub(crate) ended_at: Option<Instant>,
}

pub(crate) struct Sink {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    connections: usize,
    arrivals: Vec<Arrival>,
    paths: HashMap<String, PathState>,
    released: bool,
    closed: bool,
}

/// What is known of a path, and what it answers.
#[derive(Default)]
struct PathState {
    arrived: usize,
    in_flight: usize,
    in_flight_max: usize,
    next: VecDeque<Reply>,
    always: Option<Reply>,
}

impl Sink {
    /// Answers 200 at once until it is told otherwise.
    pub(crate) fn start() -> Self {
        let shared = Arc::default();
        Sink { address: listen(&shared), shared }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The next answers on a path, before what it always answers.
    pub(crate) fn next(&self, path: &str, replies: impl IntoIterator<Item = Reply>) {
        self.state().paths.entry(path.to_owned()).or_default().next.extend(replies);
    }

    /// What a path answers from now on.
    pub(crate) fn always(&self, path: &str, reply: Reply) {
        self.state().paths.entry(path.to_owned()).or_default().always = Some(reply);
    }

    /// Lets all that is held go, now and from now on.
    pub(crate) fn release(&self) {
        self.state().released = true;
        self.shared.changed.notify_all();
    }

    pub(crate) fn arrivals(&self) -> Vec<Arrival> {
        self.state().arrivals.clone()
    }

    /// How many requests have come on all paths.
    pub(crate) fn count(&self) -> usize {
        self.state().arrivals.len()
    }

    pub(crate) fn connections(&self) -> usize {
        self.state().connections
    }

    pub(crate) fn arrivals_at(&self, path: &str) -> Vec<Arrival> {
        self.state().arrivals.iter().filter(|arrival| arrival.path == path).cloned().collect()
    }

    /// The most requests that a path has had at once.
    pub(crate) fn in_flight_max(&self, path: &str) -> usize {
        self.state().paths.get(path).map_or(0, |known| known.in_flight_max)
    }

    /// Waits until a path has had this many requests, and gives them.
    pub(crate) fn wait_for(&self, path: &str, count: usize) -> Vec<Arrival> {
        let missing = |state: &mut State| state.paths.get(path).is_none_or(|known| known.arrived < count);
        let waited = self.shared.changed.wait_timeout_while(self.state(), PATIENCE, missing).unwrap();
        let (state, result) = waited;
        let arrived = state.paths.get(path).map_or(0, |known| known.arrived);
        drop(state);
        assert!(!result.timed_out(), "waited {PATIENCE:?} for {count} at {path}, there were {arrived}");
        self.arrivals_at(path)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap()
    }
}

impl Drop for Sink {
    /// Its threads end with the gateway's connections; whoever still waits for an answer gets none.
    fn drop(&mut self) {
        let mut state = self.shared.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.closed = true;
        drop(state);
        self.shared.changed.notify_all();
        let _ = TcpStream::connect(self.address);
    }
}

impl Receiver for Shared {
    fn connected(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        state.connections += usize::from(!state.closed);
        !state.closed
    }

    fn request(&self, message: Message, mut stream: &TcpStream) -> std::io::Result<bool> {
        let path = message.first_line.split(' ').nth(1).unwrap_or_default().to_owned();
        let (number, reply) = self.arrived(&path, message);
        let go_on = self.hold(&reply);
        self.leaves(&path, number);
        if go_on {
            stream.write_all(&reply.bytes())?;
        }
        Ok(go_on)
    }
}

impl Shared {
    /// Its number among all that have come, and what it is answered.
    fn arrived(&self, path: &str, message: Message) -> (usize, Reply) {
        let mut state = self.state.lock().unwrap();
        let known = state.paths.entry(path.to_owned()).or_default();
        known.arrived += 1;
        known.in_flight += 1;
        known.in_flight_max = known.in_flight_max.max(known.in_flight);
        let reply = known.next.pop_front().or_else(|| known.always.clone());
        state.arrivals.push(Arrival {
            path: path.to_owned(),
            headers: message.headers,
            body: message.body,
            began_at: Instant::now(),
            ended_at: None,
        });
        self.changed.notify_all();
        (state.arrivals.len() - 1, reply.unwrap_or_else(|| Reply::status(200)))
    }

    /// Waits as long as the reply says, whatever the other side does meanwhile; `false` when the sink is gone.
    fn hold(&self, reply: &Reply) -> bool {
        let state = self.state.lock().unwrap();
        let limit = if reply.held { Duration::from_secs(3600) } else { reply.delay };
        let waits = |state: &mut State| !(state.closed || reply.held && state.released);
        let (state, _) = self.changed.wait_timeout_while(state, limit, waits).unwrap();
        !state.closed
    }

    fn leaves(&self, path: &str, number: usize) {
        let mut state = self.state.lock().unwrap();
        state.arrivals[number].ended_at = Some(Instant::now());
        if let Some(known) = state.paths.get_mut(path) {
            known.in_flight -= 1;
        }
    }
}
