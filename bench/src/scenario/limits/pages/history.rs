//! Fills a data directory with days of history. A sample was lived by the gateway, and its rows are copied with
//! earlier ids and times, a segment a day: to live a hundred million attempts would take hours.
//!
//! Copies are what the store wrote in all but these: as many columns, as long, in the same tables and indexes, and each
//! delivery is of its event.

use crate::progress::progress;
use crate::units;
use anyhow::Context as _;
use rusqlite::{Connection, params};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Before the day of the sample. The gateway keeps seven days.
const DAYS: u64 = 6;
const DAY_MS: u64 = 24 * 3600 * 1000;
/// An id has its milliseconds above so many other bits.
const ID_BITS: u32 = 22;
/// Copies that are made in one step; between two of them a benchmark can be interrupted.
const STEP: u64 = 100;

/// A table of a segment, with its columns that are ids and those that are times.
struct Table {
    name: &'static str,
    ids: &'static [&'static str],
    times: &'static [&'static str],
}

const TABLES: [Table; 3] = [
    Table { name: "events", ids: &["id"], times: &["received_at"] },
    Table { name: "attempts", ids: &["event_id", "id", "delivery_id"], times: &["started_at"] },
    Table { name: "dead_letters", ids: &["delivery_id", "event_id"], times: &["died_at"] },
];

/// What is stored.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) events: u64,
    pub(super) attempts: u64,
    pub(super) dead_letters: u64,
    pub(super) bytes: u64,
    pub(super) segments: u64,
    /// A time in the middle of it, as the API takes it.
    pub(super) long_ago: String,
}

/// Copies the one segment that there is until so many attempts are stored. The gateway must have been stopped.
pub(super) async fn fill(data: &Path, attempts: u64) -> anyhow::Result<History> {
    let segments = data.join("segments");
    let [first, newest] = [1, DAYS + 1].map(|number| segments.join(format!("{number:08}.db")));
    std::fs::rename(&first, &newest).context("put the sample behind its history")?;
    let sample = Sample::look(&newest)?;
    let copies = attempts.saturating_sub(sample.counts[1]).div_ceil(sample.counts[1]);
    let mut history = History { segments: DAYS + 1, long_ago: sample.days_before(3)?, ..History::default() };
    history.add(sample.counts);
    for number in 1..=DAYS {
        let path = segments.join(format!("{number:08}.db"));
        let day = Day { back: DAYS + 1 - number, copies: copies / DAYS + u64::from(number <= copies % DAYS) };
        history.add(day.fill(path, &newest, &sample).await?);
        progress!("  {} attempts are stored", units::number(history.attempts));
    }
    list(&data.join("live.db"), &sample)?;
    history.bytes =
        std::fs::read_dir(&segments)?.flatten().flat_map(|file| file.metadata()).map(|file| file.len()).sum();
    Ok(history)
}

impl History {
    /// Rows of the tables, in their order.
    fn add(&mut self, [events, attempts, dead_letters]: [u64; 3]) {
        self.events += events;
        self.attempts += attempts;
        self.dead_letters += dead_letters;
    }
}

/// What was lived.
struct Sample {
    counts: [u64; 3],
    first_id: i64,
    began_ms: i64,
    ended_ms: i64,
}

impl Sample {
    fn look(path: &Path) -> anyhow::Result<Sample> {
        let segment = Connection::open(path).context("open the sample")?;
        let number = |ask: &str| -> anyhow::Result<i64> {
            segment.query_row(ask, [], |row| row.get(0)).with_context(|| format!("look at the sample: {ask}"))
        };
        let mut counts = [0; 3];
        for (count, table) in counts.iter_mut().zip(&TABLES) {
            *count = u64::try_from(number(&format!("SELECT count(*) FROM {}", table.name))?)?;
        }
        anyhow::ensure!(counts[1] > 0, "the sample has no attempts");
        Ok(Sample {
            counts,
            first_id: number("SELECT min(id) FROM events")?,
            began_ms: number("SELECT min(received_at) FROM events")?,
            ended_ms: number("SELECT max(started_at) FROM attempts")?,
        })
    }

    /// As RFC 3339.
    fn days_before(&self, days: u64) -> anyhow::Result<String> {
        let seconds = (self.began_ms - i64::try_from(days * DAY_MS)?) / 1000;
        let ask = "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', ?1, 'unixepoch')";
        Ok(Connection::open_in_memory()?.query_row(ask, [seconds], |row| row.get(0))?)
    }
}

/// A day so many before the sample's, with so many copies of it.
#[derive(Clone, Copy)]
struct Day {
    back: u64,
    copies: u64,
}

impl Day {
    /// Gives how many rows of each table it has.
    async fn fill(self, path: PathBuf, newest: &Path, sample: &Sample) -> anyhow::Result<[u64; 3]> {
        let each_ms = DAY_MS / self.copies.max(1);
        anyhow::ensure!(
            i64::try_from(each_ms)? > sample.ended_ms - sample.began_ms + 1,
            "so many copies of the sample do not fit into a day"
        );
        std::fs::copy(newest, &path).with_context(|| format!("begin {}", path.display()))?;
        let mut segment = self.begin(&path, newest)?;
        let mut rows = [0; 3];
        for from in (0..self.copies).step_by(usize::try_from(STEP)?) {
            let until = (from + STEP).min(self.copies);
            // The earliest first, so that tables grow at their end as they do when events are lived.
            let earlier: Vec<u64> = (from..until).map(|copy| self.back * DAY_MS - copy * each_ms).collect();
            let step = tokio::task::spawn_blocking(move || {
                let written = copy(&segment, &earlier);
                (segment, written)
            });
            let (back, written) = step.await.context("a step of the copying ended by itself")?;
            segment = back;
            rows.iter_mut().zip(written?).for_each(|(all, written)| *all += written);
        }
        segment.close().map_err(|(_, error)| error).context("close a segment")?;
        // What the system would still write in the minutes to come would count as the pages'.
        File::open(&path)?.sync_all().context("bring a segment to rest")?;
        Ok(rows)
    }

    /// A segment with nothing in it but what the copies will count for.
    fn begin(self, path: &Path, newest: &Path) -> anyhow::Result<Connection> {
        let segment = Connection::open(path).context("open a segment")?;
        // Nothing of it has to outlive a crash.
        segment.execute_batch(
            "PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA cache_size = -65536",
        )?;
        for table in &TABLES {
            segment.execute_batch(&format!("DELETE FROM {}", table.name))?;
        }
        let counted = columns(&segment, "stats", |name| match name {
            "account_id" | "day" => None,
            _ => Some(format!("{name} = {name} * {}", self.copies)),
        })?;
        segment.execute_batch(&format!("UPDATE stats SET day = day - {}, {counted}", self.back))?;
        segment.execute(
            "ATTACH ?1 AS sample",
            [newest.to_str().context("the work directory's name is not UTF-8")?],
        )?;
        segment.execute_batch("CREATE TEMPORARY TABLE copies (earlier INTEGER NOT NULL)")?;
        Ok(segment)
    }
}

/// Copies the sample once for each of these milliseconds.
fn copy(segment: &Connection, earlier: &[u64]) -> anyhow::Result<[u64; 3]> {
    segment.execute_batch("BEGIN; DELETE FROM copies")?;
    for ms in earlier {
        segment.execute("INSERT INTO copies VALUES (?1)", [i64::try_from(*ms)?])?;
    }
    let mut written = [0; 3];
    for (written, table) in written.iter_mut().zip(&TABLES) {
        let columns = columns(segment, table.name, |name| Some(copied(table, name)))?;
        let insert = format!(
            "INSERT INTO main.{0} SELECT {columns} FROM copies CROSS JOIN sample.{0} AS lived",
            table.name
        );
        *written =
            segment.execute(&insert, []).with_context(|| format!("copy rows of {}", table.name))? as u64;
    }
    segment.execute_batch("COMMIT")?;
    Ok(written)
}

/// A column as a copy has it.
fn copied(table: &Table, name: &str) -> String {
    let earlier = format!("(earlier << {ID_BITS})");
    match name {
        _ if table.ids.contains(&name) => format!("lived.{name} - {earlier}"),
        _ if table.times.contains(&name) => format!("lived.{name} - earlier"),
        // The deliveries of an event, each with its id first.
        "deliveries" => format!(
            "(SELECT json_group_array(json_array((value ->> 0) - {earlier}, value ->> 1, value ->> 2, value ->> 3))
              FROM json_each(lived.deliveries))"
        ),
        // Of the row as it was lived; without one it is not checked.
        "checksum" => "NULL".to_owned(),
        _ => format!("lived.{name}"),
    }
}

/// What is wanted of the columns of a table, in their order.
fn columns(
    segment: &Connection,
    table: &str,
    wanted: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<String> {
    let mut names = segment.prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid")?;
    let names = names.query_map([table], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    Ok(names.iter().filter_map(|name| wanted(name)).collect::<Vec<_>>().join(", "))
}

/// Tells the store of its segments.
fn list(live: &Path, sample: &Sample) -> anyhow::Result<()> {
    let live = Connection::open(live).context("open the list of segments")?;
    live.execute_batch("DELETE FROM segments")?;
    for number in 1..=DAYS + 1 {
        let back_ms = i64::try_from((DAYS + 1 - number) * DAY_MS)?;
        let opened_ms = sample.began_ms - back_ms;
        let sealed_ms = (number <= DAYS).then(|| opened_ms + DAY_MS as i64);
        live.execute(
            "INSERT INTO segments (number, first_event_id, opened_at, sealed_at) VALUES (?1, ?2, ?3, ?4)",
            params![number as i64, sample.first_id - (back_ms << ID_BITS), opened_ms, sealed_ms],
        )?;
    }
    Ok(())
}
