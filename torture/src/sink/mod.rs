//! The receiver: a raw socket that writes down what arrived, when, and how many there were at once.

mod mood;
mod open;

use crate::history::{Answer, Arrival, Moment};
use crate::rig::listener::{Receiver, listen};
use crate::rig::wire::Message;
use crate::watch::{Watch, hash_of};
pub use mood::Mood;
use mood::Reply;
pub(crate) use mood::{POISON, RETRY_DELAY};
use open::Open;
use std::collections::HashMap;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Listens until the process ends.
pub struct Sink {
    address: SocketAddr,
    log: Arc<Log>,
}

/// What is known of requests so far.
struct Log {
    watch: Watch,
    /// Paths of destinations, with their index.
    paths: HashMap<String, usize>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    arrivals: Vec<Arrival>,
    /// By destination: what has not ended.
    open: Vec<Vec<Open>>,
    moods: Vec<Option<Mood>>,
    /// Requests for paths that no destination has.
    strays: usize,
}

impl Sink {
    /// Takes everything until it is given a mood.
    pub fn start(watch: Watch, paths: &[&str]) -> Self {
        let state = State {
            open: paths.iter().map(|_| Vec::new()).collect(),
            moods: vec![None; paths.len()],
            ..State::default()
        };
        let paths = paths.iter().enumerate().map(|(index, path)| ((*path).to_owned(), index)).collect();
        let log = Arc::new(Log { watch, paths, state: Mutex::new(state) });
        Sink { address: listen(&log), log }
    }

    /// Where a destination is.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// How a destination treats most of its requests from now on.
    pub fn set_mood(&self, destination: usize, mood: Option<Mood>) {
        self.log.state().moods[destination] = mood;
    }

    /// All that arrived; what has not ended ends now.
    pub fn arrivals(&self) -> Vec<Arrival> {
        let now = self.log.watch.now();
        let mut arrivals = self.log.state().arrivals.clone();
        arrivals.iter_mut().for_each(|arrival| arrival.ended = arrival.ended.min(now));
        arrivals
    }

    /// How many have arrived.
    pub fn count(&self) -> usize {
        self.log.state().arrivals.len()
    }

    /// How many are in flight.
    pub fn in_flight(&self) -> usize {
        self.log.state().open.iter().map(Vec::len).sum()
    }

    /// Requests for paths that no destination has.
    pub fn strays(&self) -> usize {
        self.log.state().strays
    }
}

impl Log {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes an arrival down; gives its index and how it is to be answered.
    fn arrived(&self, destination: usize, message: &Message, stream: &TcpStream) -> (usize, Reply) {
        let header = |name: &str| message.headers.get(name).unwrap_or_default();
        let attempt = header("postrider-attempt").parse().unwrap_or(0);
        let event = hash_of(header("webhook-id").as_bytes());
        let body = hash_of(&message.body);
        let mut state = self.state();
        // Under the lock, so that the log is in the order of its moments.
        let began = self.watch.now();
        state.end_those_gone(destination, began);
        let reply = mood::reply(state.moods[destination], &message.body, event ^ u64::from(attempt));
        let index = state.arrivals.len();
        state.arrivals.push(Arrival {
            destination,
            event,
            body,
            attempt,
            began,
            ended: Moment::MAX,
            answer: Answer::Cut,
            again_after: reply.again_after(),
        });
        state.open[destination].push(Open::of(index, &reply, stream));
        (index, reply)
    }

    /// Writes down how one ended, unless it is known already.
    fn ended(&self, destination: usize, index: usize, answer: Answer) {
        let mut state = self.state();
        let now = self.watch.now();
        let before = state.open[destination].len();
        state.open[destination].retain(|open| open.index != index);
        if state.open[destination].len() < before {
            let arrival = &mut state.arrivals[index];
            (arrival.ended, arrival.answer) = (now, answer);
        }
    }
}

impl State {
    /// A sender that is gone has ended its attempt, though the thread that waits for that has not woken yet.
    fn end_those_gone(&mut self, destination: usize, now: Moment) {
        let State { open, arrivals, .. } = self;
        open[destination].retain(|open| {
            let gone = open.is_gone();
            if gone {
                arrivals[open.index].ended = now;
            }
            !gone
        });
    }
}

impl Receiver for Log {
    fn connected(&self) -> bool {
        true
    }

    fn request(&self, message: Message, stream: &TcpStream) -> std::io::Result<bool> {
        let path = message.first_line.split(' ').nth(1).unwrap_or_default();
        let Some(destination) = self.paths.get(path).copied() else {
            self.state().strays += 1;
            return Ok(false);
        };
        let (index, reply) = self.arrived(destination, &message, stream);
        reply.play(stream, |answer| self.ended(destination, index, answer))
    }
}
