//! What the server makes of a commit, by its settings. They may change while it runs, so they are asked for again.

use crate::error::QueryError;
use crate::values::column;
use deadpool_postgres::GenericClient;
use postrider_store::Durability;
use std::sync::{Mutex, PoisonError};

pub(crate) struct Durable(Mutex<Durability>);

const SETTINGS: &str = "SELECT current_setting('fsync'), current_setting('synchronous_commit'),
     current_setting('synchronous_standby_names')";

impl Durable {
    pub(crate) async fn ask(client: &impl GenericClient) -> Result<Self, QueryError> {
        Ok(Durable(Mutex::new(ask(client).await?)))
    }

    pub(crate) fn get(&self) -> Durability {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks again, and says so when the answer is another.
    pub(crate) async fn refresh(&self, client: &impl GenericClient) -> Result<(), QueryError> {
        let now = ask(client).await?;
        let before = std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), now);
        if before != now {
            tracing::warn!(
                durability = now.as_str(),
                "changed settings of the database session: {}",
                now.sentence()
            );
        }
        Ok(())
    }
}

async fn ask(client: &impl GenericClient) -> Result<Durability, QueryError> {
    let row = client.query_one(SETTINGS, &[]).await?;
    Ok(Durability::of(column(&row, 0)?, column(&row, 1)?, column(&row, 2)?))
}
