//! The gateway itself: whether it takes events, and its clock.

use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{SHED_MINUTES, Snapshot};
use crate::terminal::counted;

/// Further apart than this, signed timestamps are refused by receivers with the usual tolerance of five minutes soon.
const CLOCK_SECONDS_MAX: u64 = 60;

const DISK: &str = "df -h   # whether the disk is there and has room";
const LOG: &str = "journalctl -u postrider -n 50   # what the log says of it";
const BUSY: &str = "psql \"$POSTRIDER_DATABASE_URL\" -c \"SELECT pid, now() - query_start AS runs_for, wait_event, left(query, 60) FROM pg_stat_activity WHERE state <> 'idle' ORDER BY 2 DESC LIMIT 10\"   # what the database is busy with";
const IDLE: &str = "iostat -x 5 2   # on the store's machine: whether its disk is busy all the time";
const SHED: &str = "curl -s -H \"Authorization: Bearer $POSTRIDER_KEY\" \"$POSTRIDER_URL/metrics\" | grep postrider_shed   # by which limit, and whose";
const DATABASE: &str = "psql \"$POSTRIDER_DATABASE_URL\" -c 'SELECT 1'   # whether the database is reached";

pub(in crate::doctor) fn not_ready(seen: &Snapshot) -> Vec<Finding> {
    let Some((code, sentence)) = &seen.not_ready else { return Vec::new() };
    let refused = |code, sentence| Finding::new(Severity::Critical, code, sentence);
    let finding = match code.as_str() {
        "disk_full" => {
            refused("disk_full", "Events are refused: the disk is full up to its reserve.".to_owned())
                .next("df -h   # what is full")
                .next("postrider serve --retention-days 3 …   # keep less, after a restart")
        }
        "store_unavailable" => {
            refused("store_unavailable", "Events are refused: the store does not answer.".to_owned())
                .nexts(if seen.is_embedded { &[DISK, LOG] } else { &[DATABASE, LOG] })
        }
        "store_slow" => refused(
            "store_slow",
            "Events are refused: the store is slow, and a commit takes longer than commit_max_ms.".to_owned(),
        )
        .nexts(busy(seen)),
        "overloaded" => refused("overloaded", format!("Events are refused: {sentence}"))
            .next("postrider queue   # what waits, and for what"),
        "no_lease" => refused("no_lease", format!("Events are refused: {sentence}"))
            .next(DATABASE)
            .next("postrider cluster   # which nodes have a lease, and when it was renewed")
            .next(LOG),
        "broken" => refused("broken", format!("Events are refused: {sentence}"))
            .next(LOG)
            .next("postrider verify --data-dir …   # check the store before the next start")
            .next("systemctl restart postrider   # once the disk works"),
        _ => refused("not_ready", format!("Events are refused: {sentence}"))
            .next("systemctl status postrider   # whether it was stopped on purpose"),
    };
    vec![finding]
}

/// What to look at when the store is slow. An embedded one is a matter of its disk alone.
pub(super) fn busy(seen: &Snapshot) -> &'static [&'static str] {
    if seen.is_embedded { &[IDLE] } else { &[BUSY, IDLE] }
}

/// Events that are refused although the gateway takes others: an account at its limit, or a limit that comes and goes.
pub(in crate::doctor) fn shedding(seen: &Snapshot) -> Vec<Finding> {
    if seen.shed == 0 || seen.not_ready.is_some() {
        return Vec::new();
    }
    let sentence = format!(
        "{} refused at a limit in the last {SHED_MINUTES} minutes: of an account, or of the gateway.",
        if seen.shed == 1 { "1 event was".to_owned() } else { format!("{} events were", seen.shed) }
    );
    let finding = Finding::new(Severity::Critical, "shedding", sentence)
        .next(SHED)
        .next("postrider queue   # what waits, and for what")
        .next("postrider accounts edit acc_… max_pending:=…   # if that account may have more pending");
    vec![finding]
}

/// Nobody sends what is owed in a shard without an owner.
pub(in crate::doctor) fn unowned(seen: &Snapshot) -> Vec<Finding> {
    let (shards, pending) = seen.unowned;
    if shards == 0 {
        return Vec::new();
    }
    let severity = if pending > 0 { Severity::Critical } else { Severity::Warning };
    let (have, owed) = (if shards == 1 { "has" } else { "have" }, counted(pending, "delivery"));
    let sentence =
        format!("{} {have} no owner: no node sends the {owed} pending there.", counted(shards, "shard"));
    let finding = Finding::new(severity, "unowned_shards", sentence)
        .next("postrider cluster   # which nodes have a lease, and which shards")
        .next(LOG);
    vec![finding]
}

/// Attempts that a node cannot begin, although nothing is wrong with their receivers.
pub(in crate::doctor) fn shortages(seen: &Snapshot) -> Vec<Finding> {
    seen.shortages.iter().map(|(resource, deferred)| shortage(resource, *deferred)).collect()
}

fn shortage(resource: &str, deferred: u64) -> Finding {
    let sentence = format!(
        "This node has too {}: {} could not begin since it started. Their deliveries stay queued and are retried.",
        match resource {
            "file_descriptors" => "few file descriptors",
            "local_ports" => "few local ports towards a receiver",
            "threads" => "few threads",
            "transformed_bodies" => "little memory for bodies that transforms make",
            _ => "few buffers in its kernel's memory",
        },
        counted(deferred, "attempt"),
    );
    // One destination that takes its large bodies slowly is enough for it, and it is held back alone.
    let severity = if resource == "transformed_bodies" { Severity::Warning } else { Severity::Critical };
    let finding = Finding::new(severity, "node_resources", sentence);
    match resource {
        "transformed_bodies" => finding
            .next("postrider queue   # destinations that wait for node_resources take large bodies slowly")
            .next(
                "postrider serve --in-flight-bytes-max=…   # half as much is for bodies that transforms make",
            ),
        "file_descriptors" => finding
            .next("systemctl show postrider -p LimitNOFILE   # how many it may have; the unit raises it")
            .next("sysctl fs.file-nr   # how many the machine uses"),
        "local_ports" => finding
            .next("ss -s   # how many connections there are, and how many are closing")
            .next("sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"   # more ports"),
        "threads" => finding.next("systemctl show postrider -p TasksMax   # how many threads it may have"),
        _ => finding.next(
            "sysctl net.ipv4.tcp_mem; cat /proc/net/sockstat   # what sockets may use, and what they use",
        ),
    }
}

pub(in crate::doctor) fn clock(seen: &Snapshot) -> Vec<Finding> {
    let apart = seen.clock_ahead_seconds;
    if apart.unsigned_abs() <= CLOCK_SECONDS_MAX {
        return Vec::new();
    }
    let way = if apart > 0 { "ahead of" } else { "behind" };
    let sentence = format!(
        "The gateway's clock is {} s {way} this machine's; receivers reject signatures with a wrong time.",
        apart.unsigned_abs()
    );
    vec![Finding::new(Severity::Warning, "clock", sentence).next("timedatectl   # on both machines")]
}
