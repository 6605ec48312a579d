//! Producers that post at a pace of their own and write down what they were answered.

use crate::history::{Fate, Moment, Posted};
use crate::pace::Pace;
use crate::rig::client::{Client, request};
use crate::rig::random::Random;
use crate::rig::wire::Message;
use crate::sink::POISON;
use crate::watch::{Watch, hash_of};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What a producer posts, and how.
#[derive(Clone, Debug)]
pub struct Order {
    /// Where gateways listen; the next is tried when one does not answer.
    pub addresses: Vec<SocketAddr>,
    /// The path of its source.
    pub path: String,
    /// The kinds that it posts, with the type that such events have; the more often one stands here the more of it.
    pub kinds: Vec<(u8, &'static str)>,
    /// How many times rarer a large body is than usual.
    pub times_usual: usize,
    /// Between two posts, however long they take.
    pub apart: Duration,
    /// Before its first post, so that not all post at the same moments.
    pub first_after: Duration,
    /// Its number, which is the key of its events.
    pub number: u16,
    /// Of its chance.
    pub seed: u64,
}

/// A line of the ledger with the id that was answered.
#[derive(Clone, Debug)]
pub struct Entry {
    /// As the judge sees it.
    pub posted: Posted,
    /// As the gateway says it.
    pub id: Option<String>,
}

/// What the producers wrote down.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// All posts.
    pub entries: Vec<Entry>,
    /// Answers that no producer should get.
    pub oddities: Vec<String>,
}

/// Producers at work.
pub struct Producers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Ledger>>,
}

impl Producers {
    /// Each on a thread of its own.
    pub fn start(watch: Watch, orders: Vec<Order>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let produce = |order| {
            let producer = Producer { watch, stop: Arc::clone(&stop), order, connected: None, turn: 0 };
            thread::spawn(move || producer.work())
        };
        Producers { threads: orders.into_iter().map(produce).collect(), stop }
    }

    /// Ends them and gives what they wrote down.
    pub fn stop(self) -> Ledger {
        self.stop.store(true, Ordering::Relaxed);
        let mut ledger = Ledger::default();
        for thread in self.threads {
            let Ledger { entries, oddities } = thread.join().expect("a producer ends");
            ledger.entries.extend(entries);
            ledger.oddities.extend(oddities);
        }
        ledger
    }
}

/// No answer after this long is none; a frozen node answers nobody.
const DEADLINE: Duration = Duration::from_secs(4);
/// Before a gateway is tried again that was not there.
const RECONNECT: Duration = Duration::from_millis(20);
/// How often one that was not answered is posted again under its key.
const AGAIN_MAX: usize = 40;

struct Producer {
    watch: Watch,
    stop: Arc<AtomicBool>,
    order: Order,
    connected: Option<Client>,
    turn: usize,
}

/// What one try came to.
enum Tried {
    Answered(Message),
    /// It never left.
    NotSent,
    /// It left, and nothing came back.
    Silence,
}

impl Producer {
    fn work(mut self) -> Ledger {
        let mut random = Random::seeded(self.order.seed);
        self.turn = usize::from(self.order.number);
        let mut ledger = Ledger::default();
        let first = self.watch.now() + self.order.first_after.as_micros() as Moment;
        let mut pace = Pace::new(self.order.apart, first);
        thread::sleep(pace.next_in(self.watch.now()));
        while !self.stop.load(Ordering::Relaxed) {
            let number = ledger.entries.len();
            let (kind, event_type) = *random.one_of(&self.order.kinds);
            let body = body(&self.order, number, event_type, &mut random);
            let mut entry = self.post(number, kind, event_type, &body);
            entry.0.posted.kind = kind;
            ledger.entries.push(entry.0);
            ledger.oddities.extend(entry.1);
            thread::sleep(pace.next_in(self.watch.now()));
        }
        ledger
    }

    /// Posts one event until its fate is known, or it is given up.
    fn post(&mut self, number: usize, kind: u8, event_type: &str, body: &[u8]) -> (Entry, Option<String>) {
        let key = format!("torture-{}-{number}", self.order.number);
        let headers = [("x-event-type", event_type), ("idempotency-key", key.as_str())];
        let bytes = request("POST", &self.order.path, &headers, body);
        let began = self.watch.now();
        let (mut fate, mut id, mut odd) = (Fate::Refused, None, None);
        for _ in 0..AGAIN_MAX {
            match self.exchange(&bytes) {
                Tried::Answered(message) => match status_of(&message) {
                    202 => {
                        id = id_of(&message);
                        fate = Fate::Accepted;
                    }
                    429 | 503 => {}
                    status => odd = Some(format!("a post was answered {status}: {}", text_of(&message))),
                },
                Tried::NotSent => {}
                Tried::Silence => fate = Fate::Unknown,
            }
            // Every other producer leaves it at that; the others want to know.
            let asks_again = fate == Fate::Unknown && self.order.number.is_multiple_of(2);
            if !asks_again || self.stop.load(Ordering::Relaxed) {
                break;
            }
            thread::sleep(RECONNECT);
        }
        let event = id.as_deref().map(|id: &str| hash_of(id.as_bytes()));
        let answered = self.watch.now();
        let posted =
            Posted { body: hash_of(body), kind, key: self.order.number, began, answered, fate, event };
        (Entry { posted, id }, odd)
    }

    fn exchange(&mut self, bytes: &[u8]) -> Tried {
        let address = self.order.addresses[self.turn % self.order.addresses.len()];
        let Some(mut client) = self.connected.take().or_else(|| Client::connect(address, DEADLINE).ok())
        else {
            self.turn += 1;
            thread::sleep(RECONNECT);
            return Tried::NotSent;
        };
        match client.exchange(bytes) {
            Ok(message) => {
                if message.headers.get("connection") != Some("close") && status_of(&message) == 202 {
                    self.connected = Some(client);
                } else {
                    self.turn += 1;
                }
                Tried::Answered(message)
            }
            Err(_) => {
                self.turn += 1;
                Tried::Silence
            }
        }
    }
}

/// Unique, of many sizes, and poisoned now and then where that is meant to be.
fn body(order: &Order, number: usize, event_type: &str, random: &mut Random) -> Vec<u8> {
    let producer = order.number;
    let poisoned = event_type == "doom" && random.below(4) == 0;
    let poison = if poisoned { format!(",{}", String::from_utf8_lossy(POISON)) } else { String::new() };
    let is_large = random.below(3 * order.times_usual) == 0;
    let lengths: &[usize] = if is_large { &[10_000, 60_000] } else { &[0, 10, 100, 1_000] };
    let length = *random.one_of(lengths);
    let filling: String = (0..length).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
    format!("{{\"producer\":{producer},\"number\":{number}{poison},\"filling\":\"{filling}\"}}").into_bytes()
}

fn status_of(message: &Message) -> u16 {
    message.first_line.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

fn id_of(message: &Message) -> Option<String> {
    let answer: serde_json::Value = serde_json::from_slice(&message.body).ok()?;
    answer["data"]["id"].as_str().map(str::to_owned)
}

fn text_of(message: &Message) -> String {
    String::from_utf8_lossy(&message.body).chars().take(200).collect()
}
