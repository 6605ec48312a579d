-- What nodes share. Times are milliseconds since 1970 as the nodes write them, except those of leases, which only
-- this server's clock decides. No sequence is used: ids come from the nodes. Every key has the account in it, or
-- belongs to no account, so that accounts can be spread over several servers.

-- One row: the cluster as a whole.
CREATE TABLE cluster (
    id                    integer PRIMARY KEY CHECK (id = 1),
    shards                integer NOT NULL,
    configuration_version bigint NOT NULL, -- grows with each change
    secret_key            bytea, -- what secrets are sealed with, unless the nodes were given a key
    secret_check          text,  -- a sealed word, by which a node sees that it has the right key
    admin_key_hash        bytea,
    session_secret        text   -- sealed; what cookies and entity tags are made with
);
INSERT INTO cluster VALUES (1, 64, 0, NULL, NULL, NULL, NULL);

-- Nodes that are alive. A node is taken for dead by deleting its row, which waits for a batch that it is
-- writing; afterwards its batches find no row to update and change nothing.
CREATE TABLE members (
    node        integer NOT NULL PRIMARY KEY, -- part of the ids that it makes
    incarnation bigint  NOT NULL,             -- tells two lives of a node apart
    name        text    NOT NULL,
    version     text    NOT NULL,
    last_batch  bigint  NOT NULL,             -- by which a node that lost its connection sees what became of a commit
    joined_at   timestamptz NOT NULL,
    lease_until timestamptz NOT NULL,
    renewed_at  timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

-- What dead members had written last, for a node that only lost its connection and asks.
CREATE TABLE departed (
    node        integer NOT NULL,
    incarnation bigint  NOT NULL,
    name        text    NOT NULL,
    last_batch  bigint  NOT NULL,
    left_at     timestamptz NOT NULL,
    PRIMARY KEY (node, incarnation)
);

CREATE TABLE shards (
    shard         integer PRIMARY KEY,
    owner         integer, -- the member's node; NULL: free
    incarnation   bigint,
    epoch         bigint  NOT NULL, -- grows with each owner
    clean         boolean NOT NULL, -- the last owner left nothing in flight
    takeovers     bigint  NOT NULL DEFAULT 0, -- owners that followed one that did not leave in order
    unclean_stops bigint  NOT NULL DEFAULT 0  -- owners that were cut off
) WITH (fillfactor = 50);
INSERT INTO shards SELECT number, NULL, NULL, 0, true FROM generate_series(0, 63) AS number;

-- What the owner of a shard must hear of: something arrived, was revived, unblocked, or an operator's word.
CREATE TABLE mail (
    shard       integer NOT NULL,
    node        integer NOT NULL, -- who wrote it
    incarnation bigint  NOT NULL,
    number      bigint  NOT NULL, -- of its writer's letters
    body        text    NOT NULL,
    written_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (shard, node, incarnation, number)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- What nodes are doing, told by each every second, for the others to show and to count against limits of all nodes
-- together. Nothing that must be exact is decided by it, so it may be lost with a crash of the server.
CREATE UNLOGGED TABLE node_activity (
    node            integer PRIMARY KEY,
    incarnation     bigint  NOT NULL,
    told_at         timestamptz NOT NULL,
    in_flight       text    NOT NULL, -- [[delivery, event, destination, attempts before], …]
    in_flight_count bigint  NOT NULL,
    slots           bigint  NOT NULL, -- attempts that may be in flight at once
    pending_rows    bigint  NOT NULL,
    pending_bytes   bigint  NOT NULL,
    longest_wait_ms bigint  NOT NULL,
    accounts        text    NOT NULL  -- [[account, pending rows, pending bytes, longest wait in ms], …]
) WITH (fillfactor = 50);

-- The same of destinations that have something going on.
CREATE UNLOGGED TABLE destination_activity (
    shard          integer NOT NULL,
    destination_id bigint  NOT NULL,
    node           integer NOT NULL, -- who told it
    incarnation    bigint  NOT NULL,
    view           text    NOT NULL,
    PRIMARY KEY (shard, destination_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- How attempts went at destinations: what each node counts since it started, as it told last. Of one that has stopped it
-- stays for an hour, and may be lost like the rest.
CREATE UNLOGGED TABLE destination_health (
    destination_id bigint  NOT NULL,
    node           integer NOT NULL, -- who told it, as it was named when it started
    incarnation    bigint  NOT NULL,
    account_id     bigint  NOT NULL,
    attempts       bigint  NOT NULL, -- within the hour
    told_at        timestamptz NOT NULL,
    health         text    NOT NULL,
    PRIMARY KEY (destination_id, node, incarnation)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
CREATE INDEX destination_health_busiest ON destination_health (account_id, attempts);
CREATE INDEX destination_health_by_age ON destination_health (told_at);

-- Accounts, keys, sources, destinations, routes and the like: a document each, secrets in it are sealed.
CREATE TABLE configuration (
    kind     text   NOT NULL,
    id       bigint NOT NULL,
    version  bigint NOT NULL, -- of the change that wrote it
    document text,            -- NULL: deleted
    PRIMARY KEY (kind, id)
);
CREATE INDEX configuration_by_version ON configuration (version);

-- Who is signed in to the dashboard or the portal, on whichever node. Bounded: so many of a key, none past its end.
CREATE TABLE sessions (
    id        bytea  PRIMARY KEY, -- a hash of what the cookie carries
    key_id    bigint,             -- NULL: the gateway's own key
    key_print bytea  NOT NULL,
    note      text   NOT NULL,
    began_at  bigint NOT NULL,
    ends_at   bigint NOT NULL
);
CREATE INDEX sessions_by_key ON sessions (key_print, began_at);
CREATE INDEX sessions_by_end ON sessions (ends_at);

-- Circuits that are not closed.
CREATE TABLE circuits (
    destination_id bigint PRIMARY KEY,
    open_until     bigint, -- NULL: a probe may be made
    trips          integer NOT NULL
);

-- Jobs that make dead letters owed again.
CREATE TABLE replays (
    id              bigint PRIMARY KEY,
    account_id      bigint NOT NULL,
    filter          text   NOT NULL, -- as the API speaks it
    rate_per_second double precision,
    state           text   NOT NULL,
    total           bigint NOT NULL,
    done            bigint NOT NULL,
    skipped         bigint NOT NULL,
    created_at      bigint NOT NULL,
    updated_at      bigint NOT NULL,
    ended_at        bigint
);

-- Who changed what. Bounded: the newest of each account, within the retention.
CREATE TABLE audit (
    account_id bigint NOT NULL, -- whose things were changed
    id         bigint NOT NULL,
    at         bigint NOT NULL,
    way        text   NOT NULL, -- how the author came
    key_id     bigint,          -- NULL: the gateway's own
    key_name   text,
    call       text   NOT NULL,
    noun       text   NOT NULL,
    object     text,            -- NULL: many
    before     text,            -- JSON without secrets; NULL: it was made
    after      text,            -- NULL: it was deleted
    PRIMARY KEY (account_id, id)
);
CREATE INDEX audit_by_time ON audit (id);

-- A move of everything from another store, and how far it is.
CREATE TABLE migration (
    id       integer PRIMARY KEY CHECK (id = 1),
    source   text    NOT NULL,
    at_table text    NOT NULL,
    position text, -- behind which row, in the words of the source
    finished boolean NOT NULL
);

-- What is owed and nothing else. The key is the order in which a line is sent. Rows come and go at the rate of
-- deliveries, so vacuum must be as busy as they are.
CREATE TABLE queue (
    shard          integer  NOT NULL,
    destination_id bigint   NOT NULL,
    priority       smallint NOT NULL,
    lane           smallint NOT NULL,
    place          bigint   NOT NULL, -- when it is due; in an ordered lane its key
    delivery_id    bigint   NOT NULL,
    account_id     bigint   NOT NULL,
    event_id       bigint   NOT NULL,
    route_id       bigint   NOT NULL,
    attempts       integer  NOT NULL,
    bytes          bigint   NOT NULL, -- of its event's body
    due_at         bigint,            -- in an ordered lane
    urgency        smallint,          -- in an ordered lane, where all priorities wait in one line
    PRIMARY KEY (shard, destination_id, priority, lane, place, delivery_id, account_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0.5);

-- Attempts that were begun after the shard's last owner was cut off, each until it has ended. Otherwise nothing is
-- written here.
CREATE TABLE starts (
    shard          integer NOT NULL,
    delivery_id    bigint  NOT NULL,
    event_id       bigint  NOT NULL,
    destination_id bigint  NOT NULL,
    stops          bigint  NOT NULL, -- unclean stops running that the delivery was in flight at before
    stops_before   bigint  NOT NULL, -- `unclean_stops` of the shard by then
    PRIMARY KEY (shard, delivery_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- The rest is only ever added to, in partitions of a day, and dropped by them. The days stand in the ids of events.
CREATE TABLE events (
    id          bigint NOT NULL,
    account_id  bigint NOT NULL,
    source_id   bigint, -- NULL: sent through the API
    created_by  bigint, -- the key it was sent with
    event_type  text,
    external_id text,
    replay_of   bigint,
    received_at bigint NOT NULL,
    deliver_at  bigint,
    expires_at  bigint,
    deliveries  text   NOT NULL, -- [[delivery, destination, route, priority], …]
    headers     text   NOT NULL, -- name: value, a line each
    body        bytea  NOT NULL,
    PRIMARY KEY (id, account_id)
) PARTITION BY RANGE (id);
CREATE INDEX events_by_account ON events (account_id, id);

CREATE TABLE attempts (
    event_id         bigint   NOT NULL,
    id               bigint   NOT NULL,
    account_id       bigint   NOT NULL,
    delivery_id      bigint   NOT NULL,
    destination_id   bigint   NOT NULL,
    number           integer  NOT NULL,
    started_at       bigint   NOT NULL,
    outcome          text     NOT NULL,
    status           smallint,
    next             text     NOT NULL, -- delivered, retry, or why it was given up on
    next_due_at      bigint,
    error_kind       text,
    error            text,
    dns_us           bigint,
    connect_us       bigint,
    tls_us           bigint,
    first_byte_us    bigint,
    total_us         bigint   NOT NULL,
    request_headers  text     NOT NULL,
    response_headers text     NOT NULL,
    response_body    bytea    NOT NULL,
    PRIMARY KEY (event_id, id, account_id)
) PARTITION BY RANGE (event_id);

CREATE TABLE dead_letters (
    event_id       bigint   NOT NULL,
    delivery_id    bigint   NOT NULL,
    account_id     bigint   NOT NULL,
    destination_id bigint   NOT NULL,
    route_id       bigint   NOT NULL,
    priority       smallint NOT NULL,
    order_key      bigint, -- when its destination was ordered
    attempts       integer  NOT NULL,
    bytes          bigint   NOT NULL,
    reason         text     NOT NULL,
    last_error     text,
    died_at        bigint   NOT NULL,
    discarded_at   bigint, -- from then on in no list; its delivery stays given up on
    PRIMARY KEY (event_id, delivery_id, account_id)
) PARTITION BY RANGE (event_id);
CREATE INDEX dead_letters_by_time ON dead_letters (account_id, died_at, delivery_id) WHERE discarded_at IS NULL;
CREATE INDEX dead_letters_by_cause ON dead_letters (account_id, destination_id, reason, died_at) WHERE discarded_at IS NULL;
CREATE INDEX dead_letters_by_delivery ON dead_letters (delivery_id);

-- By the day on which they were bound: the partition's key must be part of what is unique.
CREATE TABLE idempotency (
    day         integer NOT NULL,
    scope_id    bigint  NOT NULL, -- the source or, for what is sent through the API, the account
    key_hash    bytea   NOT NULL,
    body_hash   bytea   NOT NULL,
    event_id    bigint  NOT NULL,
    account_id  bigint  NOT NULL,
    received_at bigint  NOT NULL,
    PRIMARY KEY (day, scope_id, key_hash)
) PARTITION BY RANGE (day);

-- What happened, by account, by the day of the event and the day it happened on, and by node, so that no two nodes
-- wait for one row. The last four say where deliveries stand once they are summed.
CREATE TABLE stats (
    account_id      bigint  NOT NULL,
    event_day       integer NOT NULL,
    day             integer NOT NULL,
    node            integer NOT NULL,
    inbound         bigint  NOT NULL,
    outbound        bigint  NOT NULL,
    attempts        bigint  NOT NULL,
    delivered       bigint  NOT NULL,
    failed          bigint  NOT NULL,
    unrouted        bigint  NOT NULL,
    queued          bigint  NOT NULL,
    retry_scheduled bigint  NOT NULL,
    dead            bigint  NOT NULL,
    PRIMARY KEY (account_id, event_day, day, node)
) WITH (fillfactor = 50);

-- What happened when, in rings by node: the place is the number of the point within its ring, so a ring never grows.
CREATE TABLE series (
    ring   integer NOT NULL,
    node   integer NOT NULL,
    place  integer NOT NULL,
    point  bigint  NOT NULL,
    moment bytea   NOT NULL,
    PRIMARY KEY (ring, node, place)
) WITH (fillfactor = 50);

-- What falls into no day that was made ahead is not refused.
CREATE TABLE events_other PARTITION OF events DEFAULT;
CREATE TABLE attempts_other PARTITION OF attempts DEFAULT;
CREATE TABLE dead_letters_other PARTITION OF dead_letters DEFAULT;
CREATE TABLE idempotency_other PARTITION OF idempotency DEFAULT;
