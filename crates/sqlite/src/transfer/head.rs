//! What is not moved by tables: configuration, circuits, replays, the audit log and figures.

use super::{SqliteTransfer, told};
use crate::rows::{int, uint};
use crate::{audit_log, circuits, configuration, replays, stats};
use postrider_core::id::{AccountId, time_of};
use postrider_store::transfer::{CountedDay, Head};
use postrider_store::{Change, Counts, StatsChange, StoreError};
use rusqlite::{Connection, params};

impl SqliteTransfer {
    pub(super) fn read_head(&mut self) -> Result<Head, StoreError> {
        let documents = told(configuration::documents(&self.live))?;
        let put = |document| Change::put(document, &self.vault);
        let configuration = documents.iter().map(put).collect::<Result<_, _>>();
        let running: i64 = told(self.live.query_row("SELECT running FROM meta", [], |row| row.get(0)))?;
        Ok(Head {
            configuration: configuration.map_err(|bad| StoreError::Broken(bad.to_string()))?,
            circuits: told(circuits::read(&self.live))?,
            replays: told(replays::read_all(&self.live))?,
            audit: told(audit_log::read_all(&self.live))?,
            stats: told(self.read_stats())?,
            unclean_stop: running == 1,
            id_floor: told(self.id_floor())?,
            admin_key_hash: None,
        })
    }

    fn id_floor(&mut self) -> rusqlite::Result<u64> {
        let last = |known: &Connection| known.query_row("SELECT last_id FROM meta", [], |row| row.get(0));
        let mut floor: i64 = last(&self.live)?;
        for listed in self.segments.clone() {
            floor = floor.max(last(self.segment(listed.number)?)?);
        }
        Ok(uint(floor))
    }

    fn read_stats(&mut self) -> rusqlite::Result<Vec<CountedDay>> {
        let mut all =
            stats_of(&self.live, "inbound, outbound, attempts, delivered, failed, 0, 0, 0, 0", None)?;
        for listed in self.segments.clone() {
            let segment = self.segment(listed.number)?;
            let last: Option<i64> = segment.query_row("SELECT max(id) FROM events", [], |row| row.get(0))?;
            // Its figures are not told apart by the day of the event; they stay as long as its last events do.
            let day = last.map_or(listed.opened_at.day(), |id| time_of(uint(id)).day());
            all.extend(stats_of(segment, stats::COLUMNS, Some(day))?);
        }
        Ok(all)
    }

    pub(super) fn write_head(&mut self, head: &Head) -> rusqlite::Result<()> {
        let clear = "DELETE FROM configuration; DELETE FROM circuits; DELETE FROM replays; DELETE FROM audit; DELETE FROM stats";
        self.live.execute_batch(clear)?;
        configuration::write(&mut self.live, &head.configuration, &self.vault)?;
        circuits::write(&mut self.live, &head.circuits)?;
        for replay in &head.replays {
            replays::put(&mut self.live, replay)?;
        }
        let change = self.live.transaction()?;
        head.audit.iter().try_for_each(|record| audit_log::add(&change, record))?;
        change.commit()?;
        self.write_stats(&head.stats)?;
        self.live.execute(
            "UPDATE meta SET last_id = max(last_id, ?1), running = ?2",
            params![int(head.id_floor), i64::from(head.unclean_stop)],
        )?;
        Ok(())
    }

    fn write_stats(&mut self, counted: &[CountedDay]) -> rusqlite::Result<()> {
        for listed in self.segments.clone() {
            self.segment(listed.number)?.execute("DELETE FROM stats", [])?;
        }
        for one in counted {
            let number = one.event_day.and_then(|day| self.segment_of_day(day));
            let Some(number) = number else {
                let [a, b, c, d, e, ..] = one.counts.to_array();
                let row = [int(one.account.as_u64()), int(one.day), a, b, c, d, e];
                let change = self.live.transaction()?;
                stats::keep_row(&change, row)?;
                change.commit()?;
                continue;
            };
            let mut change = StatsChange::default();
            change.count(one.account, one.day, one.counts);
            let writing = self.segment(number)?.transaction()?;
            stats::write(&writing, &change)?;
            writing.commit()?;
        }
        Ok(())
    }
}

fn stats_of(
    database: &Connection,
    columns: &str,
    event_day: Option<u64>,
) -> rusqlite::Result<Vec<CountedDay>> {
    let mut select = database.prepare(&format!("SELECT account_id, day, {columns} FROM stats"))?;
    let rows = select.query_map([], |row| {
        let mut parts = [0; Counts::PARTS];
        for (index, part) in parts.iter_mut().enumerate() {
            *part = row.get(index + 2)?;
        }
        let account = AccountId::from_u64(uint(row.get(0)?));
        Ok(CountedDay { account, event_day, day: uint(row.get(1)?), counts: Counts::from_array(parts) })
    })?;
    rows.collect()
}
