-- What is configured, and which segments there are. Events and what is owed for them are in the segments.

CREATE TABLE meta (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    last_id        INTEGER NOT NULL, -- of anything configured
    running        INTEGER NOT NULL, -- 1 from open to an orderly close
    session_secret TEXT,             -- sealed; what cookies and entity tags are made with
    unclean_stops  INTEGER NOT NULL  -- runs that did not end with an orderly close
) STRICT;
INSERT INTO meta VALUES (1, 0, 0, NULL, 0);

CREATE TABLE segments (
    number         INTEGER PRIMARY KEY,
    first_event_id INTEGER NOT NULL, -- every event of it is at or above, and below the next segment's
    opened_at      INTEGER NOT NULL,
    sealed_at      INTEGER
) STRICT;

-- Accounts, keys, sources, destinations and routes: few rows, read whole at start, so a document each is enough.
CREATE TABLE configuration (
    kind     TEXT NOT NULL,
    id       INTEGER NOT NULL,
    document TEXT NOT NULL, -- JSON; secrets in it are sealed
    checksum INTEGER NOT NULL, -- of the document
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

-- Who is signed in to the dashboard or the portal. Bounded: so many of a key, none past its end.
CREATE TABLE sessions (
    id        BLOB PRIMARY KEY, -- a hash of what the cookie carries
    key_id    INTEGER,          -- NULL: the gateway's own key
    key_print BLOB    NOT NULL,
    note      TEXT    NOT NULL,
    began_at  INTEGER NOT NULL,
    ends_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_key ON sessions (key_print, began_at);
CREATE INDEX sessions_by_end ON sessions (ends_at);

-- Circuits that are not closed.
CREATE TABLE circuits (
    destination_id INTEGER PRIMARY KEY,
    open_until     INTEGER, -- NULL: a probe may be made
    trips          INTEGER NOT NULL
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

-- A move of everything from another store, and how far it is.
CREATE TABLE migration (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    source   TEXT NOT NULL,
    at_table TEXT NOT NULL,
    position TEXT, -- behind which row, in the words of the source
    finished INTEGER NOT NULL
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

-- What happened when, in rings: the place is the number of the point within its ring, so a ring never grows.
CREATE TABLE series (
    ring   INTEGER NOT NULL,
    place  INTEGER NOT NULL,
    point  INTEGER NOT NULL,
    moment BLOB    NOT NULL,
    PRIMARY KEY (ring, place)
) STRICT, WITHOUT ROWID;

-- Who changed what. Bounded: the newest of each account, within the retention.
CREATE TABLE audit (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL, -- whose things were changed
    at         INTEGER NOT NULL,
    way        TEXT    NOT NULL, -- how the author came
    key_id     INTEGER,          -- NULL: the gateway's own
    key_name   TEXT,
    call       TEXT    NOT NULL,
    noun       TEXT    NOT NULL,
    object     TEXT,             -- NULL: many
    before     TEXT,             -- JSON without secrets; NULL: it was made
    after      TEXT              -- NULL: it was deleted
) STRICT;
CREATE INDEX audit_of_account ON audit (account_id, id);

-- How many of them there are, kept by whatever adds or drops them: counting up to the bound at each change would walk
-- all that an account has.
CREATE TABLE audit_counts (
    account_id INTEGER PRIMARY KEY,
    records    INTEGER NOT NULL
) STRICT;
CREATE TRIGGER audit_added AFTER INSERT ON audit BEGIN
    INSERT INTO audit_counts VALUES (new.account_id, 1) ON CONFLICT DO UPDATE SET records = records + 1;
END;
CREATE TRIGGER audit_dropped AFTER DELETE ON audit BEGIN
    UPDATE audit_counts SET records = records - 1 WHERE account_id = old.account_id;
    DELETE FROM audit_counts WHERE account_id = old.account_id AND records = 0;
END;
