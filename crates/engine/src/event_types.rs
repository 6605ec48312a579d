//! Event types that accounts have described, by what they are looked up by.

use crate::schema::Schema;
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, EventTypeId};
use postrider_core::map::IdMap;
use postrider_store::DescribedType;
use std::collections::HashMap;
use std::sync::Arc;

/// All of them.
#[derive(Default)]
pub struct EventTypes {
    by_id: IdMap<EventTypeId, Arc<KnownType>>,
    /// By account first: where an account has none, no text is hashed for its events.
    by_account: IdMap<AccountId, HashMap<String, Arc<KnownType>>>,
}

/// A described type with its schema compiled.
pub(crate) struct KnownType {
    described: Arc<DescribedType>,
    /// `None` when it is not legal, written by a version that knew more; then it is not checked.
    schema: Option<Arc<Schema>>,
}

impl KnownType {
    pub(crate) fn new(described: DescribedType) -> Self {
        let compiled = Schema::compile(&described.schema);
        let schema = compiled
            .inspect_err(|bad| tracing::warn!(of = %described.id, %bad, "stored schema is invalid; events are not validated against it"))
            .ok();
        KnownType { described: Arc::new(described), schema: schema.map(Arc::new) }
    }
}

impl EventTypes {
    pub(crate) fn put(&mut self, known: Arc<KnownType>) {
        self.remove(known.described.id);
        let of_account = self.by_account.entry(known.described.account).or_default();
        of_account.insert(known.described.event_type.as_str().to_owned(), Arc::clone(&known));
        self.by_id.insert(known.described.id, known);
    }

    pub(crate) fn remove(&mut self, id: EventTypeId) {
        let Some(known) = self.by_id.remove(&id) else { return };
        let account = known.described.account;
        let Some(of_account) = self.by_account.get_mut(&account) else { return };
        of_account.remove(known.described.event_type.as_str());
        if of_account.is_empty() {
            self.by_account.remove(&account);
        }
    }

    /// What events of this type must look like.
    pub(crate) fn schema(&self, account: AccountId, event_type: Option<&EventType>) -> Option<Arc<Schema>> {
        self.by_account.get(&account)?.get(event_type?.as_str())?.schema.clone()
    }

    /// One of an account.
    pub fn get(&self, account: AccountId, id: EventTypeId) -> Option<&Arc<DescribedType>> {
        self.by_id.get(&id).map(|known| &known.described).filter(|found| found.account == account)
    }

    /// The one of an account that describes a type.
    pub fn of_type(&self, account: AccountId, event_type: &EventType) -> Option<&Arc<DescribedType>> {
        Some(&self.by_account.get(&account)?.get(event_type.as_str())?.described)
    }

    /// All of an account, oldest first.
    pub fn all(&self, account: AccountId) -> Vec<Arc<DescribedType>> {
        let known = self.by_account.get(&account).into_iter().flat_map(HashMap::values);
        let mut all: Vec<_> = known.map(|known| Arc::clone(&known.described)).collect();
        all.sort_by_key(|described| described.id);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_core::time::Timestamp;
    use serde_json::json;

    fn described(id: u64, event_type: &str) -> Arc<KnownType> {
        Arc::new(KnownType::new(DescribedType {
            id: EventTypeId::from_u64(id),
            account: AccountId::from_u64(1),
            event_type: EventType::parse(event_type).unwrap(),
            schema: json!({ "type": "object" }),
            description: None,
            created_at: Timestamp::ZERO,
        }))
    }

    #[test]
    fn a_schema_is_found_by_account_and_type_until_it_goes() {
        let mut types = EventTypes::default();
        let has = |types: &EventTypes, account, event_type: &str| {
            let event_type = EventType::parse(event_type).unwrap();
            types.schema(AccountId::from_u64(account), Some(&event_type)).is_some()
        };
        types.put(described(5, "a.b"));
        types.put(described(6, "a.c"));
        assert!(
            has(&types, 1, "a.b") && has(&types, 1, "a.c") && !has(&types, 1, "a") && !has(&types, 2, "a.b")
        );
        assert!(types.schema(AccountId::from_u64(1), None).is_none());
        types.put(described(5, "a.d"));
        assert!(
            !has(&types, 1, "a.b") && has(&types, 1, "a.d"),
            "one that is renamed checks its new type alone"
        );
        types.remove(EventTypeId::from_u64(5));
        types.remove(EventTypeId::from_u64(6));
        assert!(!has(&types, 1, "a.d") && types.by_account.is_empty());
    }
}
