-- The events of one stretch of time with all that belongs to them: what is still owed, every attempt, every
-- dead letter. So a commit is one sync of one file, and a stretch that is past is dropped by deleting the file.

CREATE TABLE meta (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    last_id INTEGER NOT NULL -- greatest id in here
) STRICT;
INSERT INTO meta VALUES (1, 0);

-- What is owed and nothing else. The key is the order in which a line is sent, so a page is one range scan and
-- no index is needed.
CREATE TABLE queue (
    destination_id INTEGER NOT NULL,
    priority       INTEGER NOT NULL,
    lane           INTEGER NOT NULL,
    place          INTEGER NOT NULL, -- when it is due; in an ordered lane its key
    delivery_id    INTEGER NOT NULL,
    event_id       INTEGER NOT NULL,
    route_id       INTEGER NOT NULL,
    account_id     INTEGER NOT NULL,
    attempts       INTEGER NOT NULL,
    bytes          INTEGER NOT NULL, -- of its event's body
    due_at         INTEGER, -- in an ordered lane
    urgency        INTEGER, -- in an ordered lane, where all priorities wait in one line
    PRIMARY KEY (destination_id, priority, lane, place, delivery_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letters (
    delivery_id    INTEGER PRIMARY KEY,
    event_id       INTEGER NOT NULL,
    account_id     INTEGER NOT NULL,
    destination_id INTEGER NOT NULL,
    route_id       INTEGER NOT NULL,
    priority       INTEGER NOT NULL,
    order_key      INTEGER, -- when its destination was ordered
    attempts       INTEGER NOT NULL,
    bytes          INTEGER NOT NULL, -- of its event's body
    reason         TEXT NOT NULL,
    last_error     TEXT,
    died_at        INTEGER NOT NULL,
    discarded_at   INTEGER -- from then on in no list; its delivery stays given up on
) STRICT;
CREATE INDEX dead_letters_by_time ON dead_letters (account_id, died_at) WHERE discarded_at IS NULL;
CREATE INDEX dead_letters_by_cause ON dead_letters (account_id, destination_id, reason, died_at) WHERE discarded_at IS NULL;
CREATE INDEX dead_letters_by_event ON dead_letters (event_id);

CREATE TABLE events (
    id          INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL,
    source_id   INTEGER, -- NULL: sent through the API
    created_by  INTEGER, -- the key it was sent with
    event_type  TEXT,
    external_id TEXT,
    replay_of   INTEGER,
    received_at INTEGER NOT NULL,
    deliver_at  INTEGER,
    expires_at  INTEGER,
    deliveries  TEXT NOT NULL, -- [[delivery, destination, route, priority], …]
    checksum    INTEGER, -- of type, deliveries, headers and body; NULL: moved here from another store
    headers     TEXT NOT NULL, -- name: value, a line each
    body        BLOB NOT NULL  -- last, so that the other columns are read without it
) STRICT;
CREATE INDEX events_by_account ON events (account_id);
-- Costs nothing for what comes in by a source, and finds the few among the many.
CREATE INDEX events_outbound ON events (account_id) WHERE source_id IS NULL;

-- In the order in which they were made: a commit writes all of its own behind the last. By event they would fall among
-- those of everything that is in flight, and a commit would write more pages.
CREATE TABLE attempts (
    event_id         INTEGER NOT NULL,
    id               INTEGER PRIMARY KEY,
    delivery_id      INTEGER NOT NULL,
    destination_id   INTEGER NOT NULL,
    number           INTEGER NOT NULL,
    started_at       INTEGER NOT NULL,
    outcome          TEXT NOT NULL,
    status           INTEGER,
    next             TEXT NOT NULL, -- delivered, retry, or why it was given up on
    next_due_at      INTEGER,
    error_kind       TEXT,
    error            TEXT,
    dns_us           INTEGER,
    connect_us       INTEGER,
    tls_us           INTEGER,
    first_byte_us    INTEGER,
    total_us         INTEGER NOT NULL,
    request_headers  TEXT NOT NULL,
    response_headers TEXT NOT NULL,
    response_body    BLOB NOT NULL
) STRICT;
-- Has all that says where a delivery stands, so that lists need not read the attempts themselves.
CREATE INDEX attempts_by_event ON attempts (event_id, delivery_id, next, next_due_at);

-- Attempts that were begun in a run that follows an unclean stop, each until it has ended. Other runs write nothing here.
CREATE TABLE starts (
    delivery_id    INTEGER PRIMARY KEY,
    event_id       INTEGER NOT NULL,
    destination_id INTEGER NOT NULL,
    stops          INTEGER NOT NULL, -- unclean stops running that the delivery was in flight at before
    stops_before   INTEGER NOT NULL  -- `unclean_stops` of the directory by then
) STRICT;

CREATE TABLE idempotency (
    scope_id    INTEGER NOT NULL, -- the source or, for what is sent through the API, the account
    key_hash    BLOB NOT NULL,
    body_hash   BLOB NOT NULL,
    event_id    INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    PRIMARY KEY (scope_id, key_hash)
) STRICT, WITHOUT ROWID;

-- What happened to the events of this segment, by account and day. The last three say how many of their deliveries
-- stand where once they are summed: a day's own number may be below zero.
CREATE TABLE stats (
    account_id      INTEGER NOT NULL,
    day             INTEGER NOT NULL, -- since 1970
    inbound         INTEGER NOT NULL,
    outbound        INTEGER NOT NULL,
    attempts        INTEGER NOT NULL,
    delivered       INTEGER NOT NULL,
    failed          INTEGER NOT NULL,
    unrouted        INTEGER NOT NULL,
    queued          INTEGER NOT NULL,
    retry_scheduled INTEGER NOT NULL,
    dead            INTEGER NOT NULL,
    PRIMARY KEY (account_id, day)
) STRICT, WITHOUT ROWID;
