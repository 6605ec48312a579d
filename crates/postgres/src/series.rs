//! Rings of what happened when: every node writes its own, and a reader sees them together.

use crate::database::Database;
use crate::error::QueryError;
use crate::values::{column, int, uint};
use postrider_store::{Moment, Ring, SeriesPoint};
use std::collections::BTreeMap;

const PUT: &str =
    "INSERT INTO series SELECT * FROM unnest($1::int4[], $2::int4[], $3::int4[], $4::int8[], $5::bytea[])
     ON CONFLICT (ring, node, place) DO UPDATE SET point = excluded.point, moment = excluded.moment";

pub(crate) async fn keep(database: &Database, points: &[SeriesPoint]) -> Result<(), QueryError> {
    // One statement cannot write a row twice: of a place the last is kept.
    let places: BTreeMap<(Ring, i32), &SeriesPoint> =
        points.iter().map(|found| ((found.ring, place(found.ring, found.point)), found)).collect();
    let rings: Vec<i32> = places.keys().map(|(ring, _)| number(*ring)).collect();
    let nodes = vec![database.membership.identity().node; places.len()];
    let slots: Vec<i32> = places.keys().map(|(_, place)| *place).collect();
    let numbers: Vec<i64> = places.values().map(|found| int(found.point)).collect();
    let moments: Vec<Vec<u8>> = places.values().map(|found| found.moment.to_bytes()).collect();
    let client = database.client().await?;
    client.execute(PUT, &[&rings, &nodes, &slots, &numbers, &moments]).await?;
    Ok(())
}

pub(crate) async fn read(
    database: &Database,
    ring: Ring,
    since: u64,
) -> Result<Vec<SeriesPoint>, QueryError> {
    let select = "SELECT point, moment FROM series WHERE ring = $1 AND point >= $2 ORDER BY point";
    let rows = database.client().await?.query(select, &[&number(ring), &int(since)]).await?;
    let mut found: Vec<SeriesPoint> = Vec::new();
    for row in &rows {
        let (point, moment) = (uint(column(row, 0)?), moment(column(row, 1)?)?);
        match found.last_mut().filter(|last| last.point == point) {
            Some(last) => last.moment.beside(&moment),
            None => found.push(SeriesPoint { ring, point, moment }),
        }
    }
    // A node that is gone has left points that nobody writes over.
    let oldest = found.last().map_or(0, |last| (last.point + 1).saturating_sub(ring.points()));
    found.retain(|found| found.point >= oldest);
    Ok(found)
}

pub(crate) async fn read_own(
    database: &Database,
    ring: Ring,
    point: u64,
) -> Result<Option<Moment>, QueryError> {
    let select = "SELECT moment FROM series WHERE ring = $1 AND node = $2 AND place = $3 AND point = $4";
    let node = database.membership.identity().node;
    let key: (i32, i32, i64) = (number(ring), place(ring, point), int(point));
    let row = database.client().await?.query_opt(select, &[&key.0, &node, &key.1, &key.2]).await?;
    row.map(|row| moment(column(&row, 0)?)).transpose()
}

fn moment(bytes: &[u8]) -> Result<Moment, QueryError> {
    Moment::from_bytes(bytes).ok_or(QueryError::Corrupt("a moment"))
}

fn number(ring: Ring) -> i32 {
    ring.number().into()
}

fn place(ring: Ring, point: u64) -> i32 {
    i32::try_from(point % ring.points()).unwrap_or(i32::MAX)
}
