//! Lists of events, newest first. A filter looks through the newest events one by one, and only so many at a time.

use crate::error::QueryError;
use crate::history::{self, FACT_COLUMNS, Facts};
use crate::standing;
use crate::stats;
use crate::values::{column, int, uint};
use deadpool_postgres::GenericClient;
use postrider_core::id::EventId;
use postrider_store::{
    DeliveryState, Direction, EventFacts, EventFilter, EventPage, EventQuery, ListScan, Standings,
};

/// Rows read at once.
const STEP: usize = 500;
/// Bytes of what is owed for them as they are stored, after which no more rows are: an event may be owed to ten thousand.
const STEP_BYTES: i64 = 1024 * 1024;

pub(crate) async fn events(client: &impl GenericClient, query: &EventQuery) -> Result<EventPage, QueryError> {
    if query.filter.is_empty() { whole(client, query).await } else { filtered(client, query).await }
}

/// Of what is not filtered the total was counted when it came.
async fn whole(client: &impl GenericClient, query: &EventQuery) -> Result<EventPage, QueryError> {
    let (least, most) = query.ids();
    // One more than asked for tells that there are more.
    let found = newest_ids(client, query, (least, most)).await?;
    let mut page =
        EventPage { total: stats::events_of(client, query.account).await?, ..EventPage::default() };
    for event in found {
        if !page.has_room(query) {
            page.next = page.items.last().map(|event| event.id);
            break;
        }
        page.items.extend(history::listed(client, query, event).await?);
    }
    Ok(page)
}

async fn newest_ids(
    client: &impl GenericClient,
    query: &EventQuery,
    ids: (u64, u64),
) -> Result<Vec<EventId>, QueryError> {
    let select = format!("{} LIMIT $5 OFFSET $6", select_newest(query, "id"));
    let [account, least, most, before] = key(query, ids);
    let (limit, offset) = (int(query.limit as u64 + 1), int(query.offset as u64));
    let rows = client.query(&select, &[&account, &least, &most, &before, &limit, &offset]).await?;
    rows.iter().map(|row| Ok(EventId::from_u64(uint(column(row, 0)?)))).collect()
}

/// The next that a filter looks at.
struct Step {
    rows: Vec<Facts>,
    is_last: bool,
}

impl Step {
    /// How long what is owed is, is known without reading it.
    async fn read(
        client: &impl GenericClient,
        query: &EventQuery,
        ids: (u64, u64),
    ) -> Result<Self, QueryError> {
        let newest = select_newest(query, &format!("{FACT_COLUMNS}, pg_column_size(deliveries) AS bytes"));
        let select = format!(
            "SELECT {FACT_COLUMNS}, found FROM (
                 SELECT *, sum(bytes) OVER (ORDER BY id DESC) - bytes AS before, count(*) OVER () AS found
                 FROM ({newest} LIMIT $5) newest
             ) step WHERE before < $6 ORDER BY id DESC"
        );
        let [account, least, most, before] = key(query, ids);
        let step = int(STEP as u64);
        let rows = client.query(&select, &[&account, &least, &most, &before, &step, &STEP_BYTES]).await?;
        let found = rows.first().map_or(Ok(0), |row| column::<i64>(row, 9))?;
        let is_last = found < step && rows.len() as u64 == uint(found);
        Ok(Step { rows: rows.iter().map(history::read_facts).collect::<Result<_, _>>()?, is_last })
    }
}

fn select_newest(query: &EventQuery, columns: &str) -> String {
    let way = match query.filter.direction {
        Some(Direction::Outbound) => "AND source_id IS NULL",
        Some(Direction::Inbound) | None => "",
    };
    format!(
        "SELECT {columns} FROM events
         WHERE account_id = $1 AND id BETWEEN $2 AND $3 AND received_at < $4 {way} ORDER BY id DESC"
    )
}

fn key(query: &EventQuery, ids: (u64, u64)) -> [i64; 4] {
    [int(query.account.as_u64()), int(ids.0), int(ids.1), int(query.received_before())]
}

async fn filtered(client: &impl GenericClient, query: &EventQuery) -> Result<EventPage, QueryError> {
    let mut scan = ListScan::new(query);
    let (least, mut most) = query.ids();
    loop {
        let Step { rows, is_last } = Step::read(client, query, (least, most)).await?;
        let standings = standings(client, &query.filter, &rows).await?;
        for facts in rows {
            if scan.is_full() {
                return Ok(scan.page());
            }
            if scan.is_spent() {
                return Ok(scan.cut());
            }
            most = facts.id.as_u64().saturating_sub(1);
            let standing = standings.get(&facts.id).map(Vec::as_slice);
            let matches = matches(client, query, &facts, standing, &mut scan).await?;
            if scan.looked_at(facts.id, matches) {
                scan.show(history::listed(client, query, facts.id).await?);
            }
        }
        if is_last {
            return Ok(scan.page());
        }
    }
}

/// Where those stand that fit so far, if that is asked for.
async fn standings(
    client: &impl GenericClient,
    filter: &EventFilter,
    rows: &[Facts],
) -> Result<Standings, QueryError> {
    if !filter.asks_for_standing() {
        return Ok(Standings::default());
    }
    let fitting = rows.iter().filter(|facts| facts.fit(filter));
    standing::of_fitting(client, filter, fitting.map(Facts::owing).collect()).await
}

/// What costs least is asked first.
async fn matches(
    client: &impl GenericClient,
    query: &EventQuery,
    facts: &Facts,
    standing: Option<&[DeliveryState]>,
    scan: &mut ListScan<'_>,
) -> Result<bool, QueryError> {
    let filter = &query.filter;
    let stands = match standing {
        Some(standing) => filter.fits_standing(standing),
        None => !filter.asks_for_standing(),
    };
    if !stands || !facts.fit(filter) {
        return Ok(false);
    }
    match &filter.text {
        None => Ok(true),
        Some(text) => has_text(client, facts.id, text, scan).await,
    }
}

async fn has_text(
    client: &impl GenericClient,
    event: EventId,
    text: &str,
    scan: &mut ListScan<'_>,
) -> Result<bool, QueryError> {
    let search = "SELECT position($2 IN body) > 0, length(body) FROM events WHERE id = $1";
    let row = client.query_one(search, &[&int(event.as_u64()), &text.as_bytes()]).await?;
    let bytes: i32 = column(&row, 1)?;
    scan.searched(usize::try_from(bytes).unwrap_or(0));
    column(&row, 0)
}

impl Facts {
    fn fit(&self, filter: &EventFilter) -> bool {
        filter.fits(self.as_asked()) && filter.fits_fan_out(&self.owed)
    }

    fn as_asked(&self) -> EventFacts<'_> {
        EventFacts {
            origin: self.origin,
            event_type: self.event_type.as_ref(),
            external_id: self.external_id.as_deref(),
            received_at: self.received_at,
        }
    }
}
