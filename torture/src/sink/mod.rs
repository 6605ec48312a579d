//! The receiver: a raw socket that writes down what arrived, when, and how many there were at once.

mod meddling;
mod mood;
mod open;

use crate::history::{Answer, Arrival, Moment};
use crate::load::Rate;
use crate::rig::listener::{Receiver, listen};
use crate::rig::wire::Message;
use crate::watch::{Watch, hash_of};
pub use meddling::Meddling;
pub use mood::Mood;
use mood::Reply;
pub(crate) use mood::{POISON, RETRY_DELAY};
use open::Open;
use std::collections::HashMap;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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
    /// Where nodes send from, with their number.
    senders: HashMap<IpAddr, usize>,
    /// The most that it works on a request on a good day.
    work_max: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    arrivals: Vec<Arrival>,
    /// By destination: what has not ended.
    open: Vec<Vec<Open>>,
    moods: Vec<Option<Mood>>,
    /// Requests for paths that no destination has, or from where no node sends.
    strays: usize,
    /// What is done to the next request.
    meddling: Option<Meddling>,
}

impl Sink {
    /// Takes everything until it is given a mood, from nodes that send from these addresses, at this
    /// rate together.
    pub fn start(watch: Watch, paths: &[&str], senders: &[SocketAddr], rate: Rate) -> Self {
        let state = State {
            open: paths.iter().map(|_| Vec::new()).collect(),
            moods: vec![None; paths.len()],
            ..State::default()
        };
        let paths = paths.iter().enumerate().map(|(index, path)| ((*path).to_owned(), index)).collect();
        let senders = senders.iter().enumerate().map(|(node, address)| (address.ip(), node)).collect();
        let (work_max, state) = (rate.work_max(), Mutex::new(state));
        let log = Arc::new(Log { watch, paths, senders, work_max, state });
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

    /// Meddles with the next request, and with no other.
    pub fn meddle(&self, meddling: Meddling) {
        self.log.state().meddling = Some(meddling);
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

    /// Requests for paths that no destination has, or from where no node sends.
    pub fn strays(&self) -> usize {
        self.log.state().strays
    }
}

impl Log {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes an arrival down; gives its index and how it is to be answered.
    fn arrived(
        &self,
        destination: usize,
        node: usize,
        message: &Message,
        stream: &TcpStream,
    ) -> (usize, Reply) {
        let header = |name: &str| message.headers.get(name).unwrap_or_default();
        let attempt = header("postrider-attempt").parse().unwrap_or(0);
        let event = hash_of(header("webhook-id").as_bytes());
        let body = hash_of(&message.body);
        let mut state = self.state();
        // Under the lock, so that the log is in the order of its moments.
        let began = self.watch.now();
        state.end_those_gone(destination, began);
        let chance = event ^ u64::from(attempt);
        let reply = mood::reply(state.moods[destination], &message.body, chance, self.work_max, began);
        let index = state.arrivals.len();
        state.arrivals.push(Arrival {
            destination,
            event,
            body,
            attempt,
            node,
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

    fn request(&self, mut message: Message, stream: &TcpStream) -> std::io::Result<bool> {
        let path = message.first_line.split(' ').nth(1).unwrap_or_default();
        // Known to the listener whatever has become of the sender since.
        let sender = stream.peer_addr()?.ip();
        let (Some(destination), Some(node)) = (self.paths.get(path), self.senders.get(&sender)) else {
            self.state().strays += 1;
            return Ok(false);
        };
        let (destination, node) = (*destination, *node);
        let meddling = self.state().meddling.take();
        match meddling {
            None => {}
            Some(Meddling::Drops) => return { stream }.write_all(meddling::TAKEN).map(|()| true),
            Some(Meddling::Doubles) => {
                let (index, _) = self.arrived(destination, node, &message, stream);
                self.ended(destination, index, Answer::Taken);
            }
            Some(Meddling::Changes) => message.body.push(b' '),
        }
        let (index, reply) = self.arrived(destination, node, &message, stream);
        reply.play(stream, |answer| self.ended(destination, index, answer))
    }
}
