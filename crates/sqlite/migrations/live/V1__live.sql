-- What is configured, and which segments there are. Events and what is owed for them are in the segments.

CREATE TABLE meta (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    last_id INTEGER NOT NULL, -- of anything configured
    running INTEGER NOT NULL  -- 1 from open to an orderly close
) STRICT;
INSERT INTO meta VALUES (1, 0, 0);

CREATE TABLE segments (
    number         INTEGER PRIMARY KEY,
    first_event_id INTEGER NOT NULL, -- every event of it is at or above, and below the next segment's
    opened_at      INTEGER NOT NULL,
    sealed_at      INTEGER
) STRICT;

CREATE TABLE accounts (
    id                INTEGER PRIMARY KEY,
    name              TEXT NOT NULL,
    weight            INTEGER NOT NULL,
    max_in_flight     INTEGER, -- NULL in this and the next two means no limit
    max_pending       INTEGER,
    max_pending_bytes INTEGER,
    created_at        INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL,
    name       TEXT NOT NULL,
    prefix     TEXT NOT NULL,
    hash       BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;

CREATE TABLE sources (
    id          INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL,
    name        TEXT NOT NULL,
    token       TEXT NOT NULL UNIQUE,
    auth_header TEXT,
    auth_secret TEXT,
    provider    TEXT,
    active      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE destinations (
    id                           INTEGER PRIMARY KEY,
    account_id                   INTEGER NOT NULL,
    name                         TEXT NOT NULL,
    url                          TEXT NOT NULL,
    max_concurrency              INTEGER NOT NULL,
    timeout_seconds              INTEGER NOT NULL,
    retry_policy                 TEXT,
    rate_per_second              REAL, -- NULL means no limit
    rate_burst                   INTEGER,
    ordering                     TEXT NOT NULL,
    ordering_key                 TEXT,
    on_dead_letter               TEXT NOT NULL,
    adaptive                     INTEGER NOT NULL,
    circuit_threshold            INTEGER NOT NULL,
    circuit_cooldown_seconds     INTEGER NOT NULL,
    circuit_cooldown_max_seconds INTEGER NOT NULL,
    paused                       INTEGER NOT NULL,
    active                       INTEGER NOT NULL,
    disabled_reason              TEXT,
    auth_header                  TEXT, -- NULL with a value means a bearer token
    auth_value                   TEXT,
    custom_headers               TEXT NOT NULL,
    signing_secret               TEXT NOT NULL,
    created_at                   INTEGER NOT NULL
) STRICT;

-- Circuits that are not closed.
CREATE TABLE circuits (
    destination_id INTEGER PRIMARY KEY,
    open_until     INTEGER, -- NULL: a probe may be made
    trips          INTEGER NOT NULL
) STRICT;

CREATE TABLE routes (
    id             INTEGER PRIMARY KEY,
    account_id     INTEGER NOT NULL,
    source_id      INTEGER,
    destination_id INTEGER NOT NULL,
    pattern        TEXT NOT NULL,
    priority       INTEGER NOT NULL,
    priority_rules TEXT NOT NULL, -- a JSON array, in the form of the API
    retry_policy   TEXT,
    active         INTEGER NOT NULL,
    created_at     INTEGER NOT NULL
) STRICT;

-- Jobs that make dead letters owed again.
CREATE TABLE replays (
    id              INTEGER PRIMARY KEY,
    account_id      INTEGER NOT NULL,
    filter          TEXT NOT NULL, -- as the API speaks it
    rate_per_second REAL,
    state           TEXT NOT NULL,
    total           INTEGER NOT NULL,
    done            INTEGER NOT NULL,
    skipped         INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    ended_at        INTEGER
) STRICT;

-- What was counted in segments that are dropped. Day 0 is the sum of all days that are too old to be told apart.
CREATE TABLE stats (
    account_id INTEGER NOT NULL,
    day        INTEGER NOT NULL, -- since 1970
    inbound    INTEGER NOT NULL,
    outbound   INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    delivered  INTEGER NOT NULL,
    failed     INTEGER NOT NULL,
    PRIMARY KEY (account_id, day)
) STRICT, WITHOUT ROWID;
