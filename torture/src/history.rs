//! What a run leaves behind: what was posted, what arrived, what was done to the gateway, and what it says itself.

/// Microseconds since the run began.
pub type Moment = u64;

/// A second as a [`Moment`].
pub const SECOND: Moment = 1_000_000;

/// All that is known of a run.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Where events go, in the order in which arrivals name them.
    pub destinations: Vec<Destination>,
    /// The ledger.
    pub posted: Vec<Posted>,
    /// The sink's log, in the order in which requests were read.
    pub arrivals: Vec<Arrival>,
    /// What may have cut attempts off.
    pub faults: Vec<Fault>,
    /// What the gateway says became of deliveries: of all dead letters, and of some others.
    pub records: Vec<Record>,
    /// How long a change of a destination may take to be heard by whoever sends.
    pub heard_within: Moment,
}

/// Where events go, and within which limits.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The path at the sink.
    pub name: String,
    /// Which kinds of event it is owed.
    pub kinds: Vec<u8>,
    /// In which order.
    pub line: Line,
    /// What `max_concurrency` was when, the first from the beginning.
    pub limits: Vec<Limit>,
    /// After this long an attempt is given up on by whoever made it.
    pub timeout: Moment,
    /// No delivery is tried more often.
    pub attempts_max: u32,
}

/// The order that a destination asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// None.
    Unordered,
    /// That of acceptance.
    Strict,
    /// That of acceptance, for each key.
    ByKey,
}

/// A limit that holds until the next.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// When it was asked for.
    pub from: Moment,
    /// Attempts at once; 0 while it is paused.
    pub max_concurrency: u32,
}

/// A line of the ledger. Bodies are unique.
#[derive(Clone, Debug)]
pub struct Posted {
    /// The hash of its bytes.
    pub body: u64,
    /// Decides who is owed it.
    pub kind: u8,
    /// Who posted it: one after the other, so the events of a key have an order.
    pub key: u16,
    /// Before the first byte was sent, the first time.
    pub began: Moment,
    /// After the last answer was read.
    pub answered: Moment,
    /// What it was answered.
    pub fate: Fate,
    /// The hash of the id in that answer.
    pub event: Option<u64>,
}

/// What became of a post, as far as its sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Answered 202.
    Accepted,
    /// Answered otherwise every time, or never sent: it must not be delivered.
    Refused,
    /// Sent, and the connection ended without an answer: anything may have become of it.
    Unknown,
}

/// A request that arrived whole.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The index of its destination.
    pub destination: usize,
    /// The hash of the id in its headers.
    pub event: u64,
    /// The hash of its bytes.
    pub body: u64,
    /// What the gateway counts it as, from 1.
    pub attempt: u32,
    /// Which node sent it.
    pub node: usize,
    /// When it had been read.
    pub began: Moment,
    /// When its answer was about to be written, or the sender was seen to be gone.
    pub ended: Moment,
    /// What it was answered.
    pub answer: Answer,
    /// How long after its end the same delivery may come again at the earliest.
    pub again_after: Moment,
}

/// What a request was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// 2xx, whole.
    Taken,
    /// Another status.
    Failed,
    /// Nothing, or not all of it.
    Cut,
}

/// Something that may have cut off whatever was in flight or not recorded yet.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What was done.
    pub what: String,
    /// Whose attempts it may have cut off.
    pub struck: Struck,
    /// Before it was done.
    pub from: Moment,
    /// After it was over.
    pub until: Moment,
}

/// Whom a fault struck. One of a single node explains nothing about what the others sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Struck {
    /// This node, or its way to the database.
    Node(usize),
    /// All nodes, their database, or the machine.
    All,
}

/// A delivery as the gateway shows it at the end.
#[derive(Clone, Debug)]
pub struct Record {
    /// The hash of the event's id.
    pub event: u64,
    /// The index of its destination.
    pub destination: usize,
    /// What became of it.
    pub end: End,
    /// The numbers of its attempts, in the order in which they are shown.
    pub attempts: Vec<u32>,
    /// The numbers of those that were given up on at their deadline.
    pub timed_out: Vec<u32>,
    /// How many of them the receiver answered.
    pub answered: usize,
    /// When the requests were read whose answers are on record: the receiver names each in its answer by that.
    pub heard: Vec<Moment>,
    /// How many of them succeeded.
    pub successes: usize,
    /// Why it was given up on, in the gateway's word.
    pub reason: Option<String>,
}

/// The gateway's word for a delivery that was given up on because its attempts were used up.
pub const ATTEMPTS_USED_UP: &str = "attempts";

/// What became of a delivery, as the gateway says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The receiver took it.
    Delivered,
    /// Given up on.
    DeadLetter,
    /// Not finished.
    Pending,
}

impl Fault {
    /// Whether it may have cut off what this node sent.
    pub fn strikes(&self, node: usize) -> bool {
        match self.struck {
            Struck::Node(struck) => struck == node,
            Struck::All => true,
        }
    }
}

impl Destination {
    /// The most that may have been allowed at once at this moment, given how long a change may take to be heard.
    pub fn limit_at(&self, moment: Moment, heard_within: Moment) -> u32 {
        let since = moment.saturating_sub(heard_within);
        let nexts = self.limits.iter().skip(1).map(|next| next.from).chain([Moment::MAX]);
        let ruled = self.limits.iter().zip(nexts).filter(|(limit, end)| limit.from <= moment && *end > since);
        ruled.map(|(limit, _)| limit.max_concurrency).max().unwrap_or(0)
    }
}
