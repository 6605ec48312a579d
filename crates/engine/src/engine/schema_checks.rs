//! Checks by a schema that are not soon done: beside the threads that serve, a few at once, each account in its turn. So
//! whoever asks for `/healthz`, or sends another event, waits for none of them.

use super::Engine;
use crate::ingest::IngestError;
use crate::schema::{Mismatch, Schema};
use bytes::Bytes;
use postrider_core::id::AccountId;
use postrider_store::containment::contain;
use postrider_store::{EventContent, StoreError, Turns};
use std::sync::Arc;

/// Whose check is next.
pub(super) struct SchemaChecks(Turns);

impl SchemaChecks {
    /// Half of the threads that send are not kept from sending by as many checks.
    pub(super) fn new(workers: usize) -> Self {
        SchemaChecks(Turns::new((workers / 2).max(1)))
    }

    /// Checks a body. It ends by itself, also when nobody waits for it any more.
    async fn check(&self, account: AccountId, schema: Arc<Schema>, body: Bytes) -> Result<(), IngestError> {
        let turn = self.0.take(Some(account)).await.map_err(|error| match error {
            StoreError::Crowded => IngestError::CheckQueueFull,
            _ => IngestError::Unavailable,
        })?;
        let checking = tokio::task::spawn_blocking(move || {
            let checked = contain(|| schema.check(&body));
            drop(turn);
            checked
        });
        let checked = checking.await.ok().and_then(Result::ok).ok_or(IngestError::Unavailable)?;
        checked.map_err(|mismatch| IngestError::SchemaMismatch(Box::new(mismatch)))
    }
}

impl Engine {
    /// Checks the body of an event that is to be taken in.
    pub(super) async fn check_elsewhere(
        &self,
        account: AccountId,
        schema: Arc<Schema>,
        body: Bytes,
    ) -> Result<(), IngestError> {
        let checked = self.schema_checks.check(account, schema, body).await;
        checked.inspect_err(|error| self.meters.shed.note(account, error))
    }

    /// Why an event would be refused by the schema of its type.
    pub async fn schema_mismatch(&self, content: &EventContent) -> Result<Option<Mismatch>, IngestError> {
        let schema = self.catalog().event_types().schema(content.account, content.event_type.as_ref());
        let Some(schema) = schema else { return Ok(None) };
        if let Some(checked) = schema.check_briefly(&content.body) {
            return Ok(checked.err());
        }
        match self.schema_checks.check(content.account, schema, content.body.clone()).await {
            Ok(()) => Ok(None),
            Err(IngestError::SchemaMismatch(mismatch)) => Ok(Some(*mismatch)),
            Err(other) => Err(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::join_all;
    use postrider_core::limits::ACCOUNT_QUERIES_WAITING_MAX;
    use serde_json::json;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[tokio::test]
    async fn a_check_waits_for_its_turn_off_this_thread_and_one_too_many_is_refused() {
        let schema = Arc::new(Schema::compile(&json!({ "items": { "type": "integer" } })).unwrap());
        let (busy, other) = (AccountId::from_u64(1), AccountId::from_u64(2));
        let checks = SchemaChecks::new(1);
        let check = |account, body| checks.check(account, Arc::clone(&schema), Bytes::from_static(body));
        let running = checks.0.take(Some(busy)).await.unwrap();
        let mut waiting: Vec<_> =
            (0..ACCOUNT_QUERIES_WAITING_MAX).map(|_| Box::pin(check(busy, b"[1]"))).collect();
        let mut context = Context::from_waker(Waker::noop());
        for check in &mut waiting {
            assert!(check.as_mut().poll(&mut context).is_pending(), "this thread serves others meanwhile");
        }
        let refused = pin!(check(busy, b"[1]")).poll(&mut context);
        assert_eq!(refused, Poll::Ready(Err(IngestError::CheckQueueFull)));
        let mut others = Box::pin(check(other, b"[true]"));
        assert!(others.as_mut().poll(&mut context).is_pending());
        drop(running);
        let (theirs, others) = tokio::join!(join_all(waiting), others);
        assert!(theirs.iter().all(|checked| *checked == Ok(())));
        let Err(IngestError::SchemaMismatch(mismatch)) = others else { panic!("it is no integer") };
        assert_eq!(mismatch.pointer, "/0");
    }
}
