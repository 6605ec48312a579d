//! Every limit in one place, related to each other where one would make another pointless.

use std::time::Duration;

/// Greatest event body, in bytes, that ingest takes.
pub const BODY_BYTES_MAX: usize = 5 * 1000 * 1000;
/// Most values of a JSON body that are built in memory for an expression or a schema, names counted too and an
/// object eight times: what is built of `{"":0}` takes a hundred times its bytes.
pub const BODY_VALUES_MAX: u64 = 1_000_000;
/// What a list shows of an event's body; the event itself has all of it.
pub const LIST_BODY_BYTES_MAX: usize = 16 * 1024;
/// What is shown of the attempts of an event or of a delivery, the last ones: each may have kilobytes of an answer.
pub const ATTEMPTS_SHOWN_MAX: usize = 200;
/// Deliveries of an event that a list of events shows; beside them it says how many there are.
pub const EVENT_DELIVERIES_SHOWN_MAX: usize = 20;
/// Deliveries of all events together after which a list that shows all of them begins a new page.
pub const LIST_DELIVERIES_MAX: usize = 20_000;
/// Greatest body of a configuration call: a destination with all its headers fits many times.
pub const CONFIG_BODY_BYTES_MAX: usize = 256 * 1024;
/// What is kept of a receiver's answer; past it the connection is closed.
pub const RESPONSE_BYTES_MAX: usize = 64 * 1024;
/// Greatest total of response header bytes kept with an attempt.
pub const RESPONSE_HEADER_BYTES_MAX: usize = 16 * 1024;
/// Greatest total of request header bytes kept with an event.
pub const EVENT_HEADER_BYTES_MAX: usize = 16 * 1024;
/// Longest event type.
pub const EVENT_TYPE_BYTES_MAX: usize = 256;
/// Longest name of anything configured.
pub const NAME_CHARS_MAX: usize = 200;
/// Longest description of anything configured.
pub const DESCRIPTION_CHARS_MAX: usize = 1000;
/// Longest URL of a destination.
pub const URL_BYTES_MAX: usize = 2048;
/// Longest logo of a brand, as a `data:` URL: every node holds those of all accounts.
pub const LOGO_BYTES_MAX: usize = 16 * 1024;
/// Longest idempotency key.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 256;
/// Secrets of a source's senders that are good at the same time; a rotation needs two.
pub const VERIFICATION_SECRETS_MAX: usize = 8;
/// Longest secret or public key of a source's senders.
pub const VERIFICATION_SECRET_BYTES_MAX: usize = 4096;
/// Destinations made for the URLs that come in by `/webhooks`.
pub const WEBHOOKS_DESTINATIONS_MAX: usize = 1000;
/// Most custom headers a destination may have.
pub const CUSTOM_HEADERS_MAX: usize = 32;

/// How far ahead an event may ask to be delivered.
pub const DELIVER_AHEAD_MAX: Duration = Duration::from_secs(30 * 24 * 3600);
/// Longest time to live of an event.
pub const TTL_MAX: Duration = Duration::from_secs(30 * 24 * 3600);

/// How long a repeated idempotency key is recognised.
pub const IDEMPOTENCY_WINDOW: Duration = Duration::from_secs(24 * 3600);

/// Most attempts at once to one destination.
pub const MAX_CONCURRENCY_MAX: u32 = 1000;
/// The default of the same: GetHook's articles use 5.
pub const MAX_CONCURRENCY_DEFAULT: u32 = 5;
/// Longest attempt.
pub const TIMEOUT_SECONDS_MAX: u32 = 120;
/// The default of the same.
pub const TIMEOUT_SECONDS_DEFAULT: u32 = 10;

/// Slowest rate limit: one in 1,000 seconds.
pub const RATE_PER_SECOND_MIN: f64 = 0.001;
/// Fastest rate limit; beyond it a limit limits nothing.
pub const RATE_PER_SECOND_MAX: f64 = 100_000.0;
/// Most sends at once that a rate limit may allow after a rest.
pub const RATE_BURST_MAX: u32 = 100_000;

/// Share of failed attempts at which a circuit opens, unless configured: one success shows that a receiver is not down.
pub const CIRCUIT_FAILURE_PERCENT_DEFAULT: u32 = 100;
/// Attempts of which that share must have failed, unless configured. A receiver that fails nine of ten at random comes to so
/// many failures in a row once in some ten million attempts; with fifty it would within some thousand, and lose hours to
/// probes that fail.
pub const CIRCUIT_WINDOW_ATTEMPTS_DEFAULT: u32 = 150;
/// Where all must have failed, they must have for so long: a receiver that restarts refuses hundreds in a second, and one
/// that is sent thousands a second is given more than luck.
pub const CIRCUIT_QUIET_MIN: Duration = Duration::from_secs(2);
/// And for so many times as long as the last of them took. Attempts that hang are seen to fail a round at a time, and each
/// round the adaptive limit is halved: by then it is a sixteenth, and who bears that is overloaded and not down.
pub const CIRCUIT_QUIET_ROUNDS: u32 = 4;
/// With fewer attempts than are looked at, no success for so long opens a circuit too. One attempt at a time that hangs for
/// [`TIMEOUT_SECONDS_MAX`] comes to [`CIRCUIT_SILENCE_FAILURES`] by then. Sooner, receivers that get an attempt a minute and
/// fail two of three would be taken for dead: they fail for ten minutes on end once in some hours, for five once in some minutes.
pub const CIRCUIT_SILENCE: Duration = Duration::from_secs(10 * 60);
/// Failures that there must be without a success meanwhile: one event that a receiver never takes has fewer in an hour.
pub const CIRCUIT_SILENCE_FAILURES: u32 = 5;
/// Most attempts that a circuit may be told to look at; each that is looked at takes eight bytes.
pub const CIRCUIT_WINDOW_ATTEMPTS_MAX: u32 = 1000;
/// What is older than this is not looked at, unless configured. Fifty attempts that hang for a minute, one after the other,
/// fit into it.
pub const CIRCUIT_WINDOW_DEFAULT: Duration = Duration::from_secs(3600);
/// The longest window that can be configured.
pub const CIRCUIT_WINDOW_MAX: Duration = Duration::from_secs(24 * 3600);
/// Most failures in a row that a circuit may be told to bear.
pub const CIRCUIT_THRESHOLD_MAX: u32 = 10_000;
/// How long a circuit is open the first time, unless configured.
pub const CIRCUIT_COOLDOWN_DEFAULT: Duration = Duration::from_secs(30);
/// How long a circuit is open at most, unless configured.
pub const CIRCUIT_COOLDOWN_MAX_DEFAULT: Duration = Duration::from_secs(15 * 60);
/// The longest cooldown that can be configured.
pub const CIRCUIT_COOLDOWN_MAX: Duration = Duration::from_secs(24 * 3600);

/// Greatest weight of an account against the others.
pub const WEIGHT_MAX: u32 = 1000;
/// Greatest limit on what an account may be owed, in deliveries or in bytes; beyond it a limit limits nothing.
pub const PENDING_LIMIT_MAX: u64 = 1_000_000_000_000_000;
/// Greatest limit on how long a delivery may wait for nothing but a slot before events are refused.
pub const BACKLOG_AGE_SECONDS_MAX: u32 = 30 * 24 * 3600;
/// Longest CEL expression.
pub const EXPRESSION_BYTES_MAX: usize = 4096;
/// Most rules by which a route finds the priority of an event.
pub const PRIORITY_RULES_MAX: usize = 32;

/// Longest JSON Schema of an event type, written as JSON.
pub const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Most event types that an account may describe.
pub const EVENT_TYPES_MAX: usize = 1000;
/// Most destinations of an account: an event may be owed to all of them.
pub const DESTINATIONS_MAX: usize = 100_000;
/// Most routes of an account, of which an event is held against those of its source.
pub const ROUTES_MAX: usize = 100_000;
/// Most sources of an account, which may have one for each of its customers.
pub const SOURCES_MAX: usize = 100_000;
/// Most keys of an account.
pub const API_KEYS_MAX: usize = 10_000;
/// Sessions that begin with one key and count at once, at the dashboard and at the portal; the oldest make room.
pub const SESSIONS_PER_KEY_MAX: usize = 100;
/// Most destinations, and most routes, up to which users of the portal add to them.
pub const PORTAL_OBJECTS_MAX: usize = 1000;

/// Most attempts a retry policy may ask for.
pub const ATTEMPTS_MAX: u32 = 100;
/// Longest delay between two attempts.
pub const RETRY_DELAY_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
/// Shortest age after which a policy gives up: below, a slow first attempt would use it up.
pub const RETRY_AGE_MIN: Duration = Duration::from_secs(1);
/// Longest such age: a year, beyond which nobody waits for an event.
pub const RETRY_AGE_MAX: Duration = Duration::from_secs(365 * 24 * 3600);
/// The longest that a receiver's Retry-After is obeyed.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 3600);

/// In-flight slots of a node unless configured.
pub const SLOTS_DEFAULT: u32 = 512;
/// Most in-flight slots of a node; each costs a socket and a buffer for the answer.
pub const SLOTS_MAX: u32 = 16_384;

/// A body up to this, in bytes, counts against no budget of bytes in flight: the slots bound how many there are, and what
/// another tenant's large bodies use up keeps none of them waiting.
pub const LIGHT_BODY_BYTES_MAX: usize = 16 * 1024;
/// The send buffer that is set on connections to receivers. 100 ms away, it lets some 2 MB a second through.
pub const SEND_BUFFER_BYTES: usize = 128 * 1024;
/// What an attempt may have written that its receiver has not taken: the kernel has twice the send buffer for it, with what
/// it needs itself, and TLS holds 64 KiB before that.
pub const WRITE_BUFFERS_BYTES_MAX: usize = 2 * SEND_BUFFER_BYTES + 64 * 1024;
/// Bytes of attempts in flight above which a node sends no further large body, unless configured or more than a
/// [part](IN_FLIGHT_PART) of its memory. A quarter of 256 MiB, the least that a container of a gateway usually has.
pub const IN_FLIGHT_BYTES_DEFAULT: u64 = 64 * 1024 * 1024;
/// The same of one account: a quarter is left to the others, as of the slots.
pub const IN_FLIGHT_BYTES_PER_ACCOUNT_DEFAULT: u64 = IN_FLIGHT_BYTES_DEFAULT / 4 * 3;
/// The same of one destination: half of its account's.
pub const IN_FLIGHT_BYTES_PER_DESTINATION_DEFAULT: u64 = IN_FLIGHT_BYTES_PER_ACCOUNT_DEFAULT / 2;
/// Such bytes are no more than this part of the memory that a node has.
pub const IN_FLIGHT_PART: u64 = 4;
/// Bodies kept between their commit and their first attempt, in bytes.
pub const KEPT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// They are no more than this part of the memory that a node has.
pub const KEPT_PART: usize = 16;
/// Smallest of these budgets that can be configured.
pub const IN_FLIGHT_BYTES_MIN: u64 = 1024 * 1024;

/// Connections to receivers that each thread that sends keeps open between attempts, unless there are too few descriptors.
pub const IDLE_CONNECTIONS_MAX: usize = 1024;

/// Deliveries of one line kept in memory; the rest waits in the store.
pub const WINDOW_MAX: usize = 128;
/// The same once [`WINDOW_TOTAL_MAX`] is reached.
pub const WINDOW_CROWDED_MAX: usize = 8;
/// Deliveries kept in memory over all lines before windows shrink. 500,000 tickets are some 24 MB.
pub const WINDOW_TOTAL_MAX: usize = 500_000;
/// Below this many a window asks the store for its next page.
pub const WINDOW_LOW: usize = 32;

/// Keys of one ordered destination kept in memory; the rest waits in the store.
pub const KEYS_MAX: usize = 4096;
/// The same once [`WINDOW_TOTAL_MAX`] is reached.
pub const KEYS_CROWDED_MAX: usize = 512;
/// Deliveries of one key kept in memory.
pub const KEY_WINDOW_MAX: usize = 16;
/// Rows asked for at once when looking for keys.
pub const KEYS_PAGE: usize = 256;

/// Longest that a receiver's Retry-After holds its whole destination, and not only the delivery it answered.
pub const DESTINATION_HOLD_MAX: Duration = Duration::from_secs(3600);
/// How long a destination is held that is overwhelmed again and does not say for how long.
pub const PUSHBACK_HOLD_FIRST: Duration = Duration::from_secs(1);
/// The longest of the same: each that follows is twice as long.
pub const PUSHBACK_HOLD_MAX: Duration = Duration::from_secs(30);
/// How long a destination is held to which the node could not begin an attempt: it had no descriptor, port or memory left.
pub const DEFERRAL_HOLD_FIRST: Duration = Duration::from_millis(250);
/// The longest of the same: each that follows is twice as long.
pub const DEFERRAL_HOLD_MAX: Duration = Duration::from_secs(5);
/// Slots are left to an account for so long after it was last owed something: as long as most attempts keep one.
pub const ACCOUNT_LINGER: Duration = Duration::from_secs(60);
/// Waiting for a slot for so long makes a delivery one band more urgent, unless configured.
pub const PROMOTION_AGE_DEFAULT: Duration = Duration::from_secs(30 * 60);

/// Dead letters that may be named one by one in a filter.
pub const REPLAY_IDS_MAX: usize = 1000;
/// Dead letters made owed again in one step of a replay: some milliseconds of the store's one writer.
pub const REPLAY_STEP_MAX: usize = 500;
/// Replays of an account that are not ended.
pub const REPLAYS_OPEN_MAX: usize = 16;
/// Replays of an account that are remembered once they are ended.
pub const REPLAYS_ENDED_MAX: usize = 100;
/// Records of an account's changes that are kept, however young the oldest of them is.
pub const AUDIT_RECORDS_MAX: usize = 5_000;

/// Events that a list with a filter looks through at once; past it the list says so, and its cursor goes on.
pub const SCAN_EVENTS_MAX: usize = 20_000;
/// The same of dead letters, whose events lie far apart: twice as many took a third of a second from the disk.
pub const SCAN_DEAD_LETTERS_MAX: usize = 10_000;
/// Body bytes that a search for a text looks through at once. 256 MiB took a second, which is too long for a page.
pub const SCAN_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Longest text that can be searched for.
pub const SEARCH_TEXT_BYTES_MAX: usize = 256;
/// People's queries that wait for their turn in a store; past it they are refused. A long one takes a quarter of a second.
pub const QUERIES_WAITING_MAX: usize = 512;
/// The same of one account.
pub const ACCOUNT_QUERIES_WAITING_MAX: usize = 64;
const _: () = assert!(ACCOUNT_QUERIES_WAITING_MAX < QUERIES_WAITING_MAX);
/// Days that are counted one by one; what was before is kept as one sum.
pub const STATS_DAYS_MAX: u64 = 90;

/// Streams of what happens that a node serves at once: each is looked at for everything that happens.
pub const STREAMS_MAX: usize = 64;
/// The same of one account, so that one tenant leaves room for the others.
pub const STREAMS_PER_ACCOUNT_MAX: usize = 16;
/// What waits for a reader of a stream; past it, it is only told how much it missed.
pub const STREAM_QUEUE_MAX: usize = 1024;
/// Events that a stream catches up on when it is taken up again.
pub const STREAM_RESUME_MAX: usize = 10_000;

/// Most events in one commit: past some hundreds a larger batch only adds latency.
pub const COMMIT_EVENTS_MAX: usize = 1000;
/// Most body bytes in one commit.
pub const COMMIT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Deliveries in one commit, above which no further event goes into it. One event, or what came as one batch, may be owed
/// to more.
pub const COMMIT_DELIVERIES_MAX: usize = 20_000;
/// Events in one batch: they go into one commit.
pub const BATCH_LINES_MAX: usize = COMMIT_EVENTS_MAX;
/// Deliveries that may be owed for one batch: each is a row, and everybody waits while they are written.
pub const BATCH_DELIVERIES_MAX: usize = 5 * COMMIT_DELIVERIES_MAX;
/// Greatest body of a batch.
pub const BATCH_BYTES_MAX: usize = COMMIT_BYTES_MAX;
/// Batches waiting for a commit before further ones are refused.
pub const BATCHES_WAITING_MAX: usize = 8;
/// Events waiting for a commit before ingest is refused.
pub const INGEST_WAITING_MAX: usize = 8192;

/// Heads, bodies and answers that are held at once, in bytes, over all connections. Without it a sender that stalls a
/// byte short of the end of each would fill the memory by its connections alone.
pub const REQUESTS_BYTES_MAX: usize = 256 * 1024 * 1024;
/// They are no more than this part of the memory that a node has.
pub const REQUESTS_PART: usize = 8;
/// But no less than this: one account can send the greatest batch.
pub const REQUESTS_BYTES_MIN: usize = 32 * 1024 * 1024;
/// Of these, bodies of known accounts that are read or wait for their commit. Answers that wait for clients have as many.
pub const BODIES_BYTES_MAX: usize = 160 * 1024 * 1024;
/// The same of one account, so that one tenant leaves room for the others.
pub const BODIES_PER_ACCOUNT_BYTES_MAX: usize = BODIES_BYTES_MAX / 2;
/// Of these, unfinished heads, and bodies of those who have shown neither a key nor the token of a source.
pub const STRANGERS_BYTES_MAX: usize = 32 * 1024 * 1024;
/// A head or a body up to this is not counted: no connection has more than one, and their number is bounded.
pub const BODY_UNCOUNTED_BYTES_MAX: usize = 4 * 1024;
/// The same of an answer.
pub const ANSWER_UNCOUNTED_BYTES_MAX: usize = 16 * 1024;

const _: () = assert!(WINDOW_LOW < WINDOW_MAX && WINDOW_CROWDED_MAX <= WINDOW_LOW);
const _: () = assert!(WINDOW_MAX < WINDOW_TOTAL_MAX);
const _: () = assert!(KEYS_PAGE < KEYS_CROWDED_MAX && KEYS_CROWDED_MAX < KEYS_MAX);
const _: () = assert!(KEY_WINDOW_MAX <= WINDOW_MAX && KEY_WINDOW_MAX * WINDOW_LOW >= WINDOW_MAX);
const _: () = assert!(MAX_CONCURRENCY_DEFAULT <= MAX_CONCURRENCY_MAX && MAX_CONCURRENCY_MAX <= SLOTS_MAX);
const _: () = assert!(SLOTS_DEFAULT <= SLOTS_MAX);
const _: () = assert!(
    (MAX_CONCURRENCY_DEFAULT as usize - 1) * (BODY_BYTES_MAX + WRITE_BUFFERS_BYTES_MAX)
        < IN_FLIGHT_BYTES_PER_DESTINATION_DEFAULT as usize,
    "a destination as it is by default sends the largest bodies with all of its concurrency"
);
const _: () = assert!(TIMEOUT_SECONDS_DEFAULT <= TIMEOUT_SECONDS_MAX);
const _: () = assert!(BODY_BYTES_MAX < COMMIT_BYTES_MAX, "any legal body fits one commit");
const _: () =
    assert!(8 * BATCH_BYTES_MAX <= BODIES_PER_ACCOUNT_BYTES_MAX, "several large bodies come at once");
const _: () =
    assert!(BODIES_PER_ACCOUNT_BYTES_MAX < BODIES_BYTES_MAX && BODIES_BYTES_MAX < REQUESTS_BYTES_MAX);
const _: () = assert!(BODIES_BYTES_MAX + STRANGERS_BYTES_MAX < REQUESTS_BYTES_MAX, "neither takes it all");
const _: () = assert!(
    BATCH_BYTES_MAX <= REQUESTS_BYTES_MIN / (REQUESTS_BYTES_MAX / BODIES_PER_ACCOUNT_BYTES_MAX + 1),
    "the greatest batch can be sent however small the memory is"
);
const _: () = assert!(SCHEMA_BYTES_MAX < CONFIG_BODY_BYTES_MAX, "the greatest schema can be sent");
const _: () = assert!(COMMIT_EVENTS_MAX <= INGEST_WAITING_MAX);
const _: () = assert!(STREAMS_PER_ACCOUNT_MAX < STREAMS_MAX);
const _: () = assert!(DEFERRAL_HOLD_FIRST.as_millis() < DEFERRAL_HOLD_MAX.as_millis());
const _: () = assert!(PUSHBACK_HOLD_FIRST.as_secs() < PUSHBACK_HOLD_MAX.as_secs());
const _: () = assert!(PUSHBACK_HOLD_MAX.as_secs() <= DESTINATION_HOLD_MAX.as_secs());
const _: () = assert!(RETRY_AFTER_MAX.as_secs() <= RETRY_DELAY_MAX.as_secs());
const _: () = assert!(RETRY_DELAY_MAX.as_secs() <= RETRY_AGE_MAX.as_secs());
const _: () = assert!(CIRCUIT_WINDOW_ATTEMPTS_DEFAULT <= CIRCUIT_WINDOW_ATTEMPTS_MAX);
const _: () = assert!(CIRCUIT_FAILURE_PERCENT_DEFAULT <= 100);
const _: () = assert!((TIMEOUT_SECONDS_MAX * CIRCUIT_SILENCE_FAILURES) as u64 <= CIRCUIT_SILENCE.as_secs());
const _: () = assert!(CIRCUIT_WINDOW_DEFAULT.as_secs() <= CIRCUIT_WINDOW_MAX.as_secs());
const _: () = assert!(CIRCUIT_COOLDOWN_DEFAULT.as_secs() <= CIRCUIT_COOLDOWN_MAX_DEFAULT.as_secs());
const _: () = assert!(CIRCUIT_COOLDOWN_MAX_DEFAULT.as_secs() <= CIRCUIT_COOLDOWN_MAX.as_secs());
