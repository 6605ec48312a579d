//! JSON as the validator sees it here: each look at a value is paid for, so that no keyword looks at more than a check
//! may cost.

use super::equality;
use super::fuel::{NOTE_FUEL, of_bytes, price, spend};
use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;

/// The representation.
pub(super) struct Metered;

/// One value.
#[derive(Clone, Copy)]
pub(super) struct MeteredValue<'a>(pub(super) &'a Value);

#[derive(Clone, Copy)]
pub(super) struct MeteredObject<'a>(&'a Map<String, Value>);

#[derive(Clone, Copy)]
pub(super) struct MeteredArray<'a>(&'a [Value]);

impl Json for Metered {
    type Node<'a> = MeteredValue<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(
        buffer: &mut Value,
        string: &str,
        use_it: impl FnOnce(MeteredValue<'_>) -> T,
    ) -> T {
        spend(4 + price().element + of_bytes(string.len(), 16));
        *buffer = string.into();
        use_it(MeteredValue(buffer))
    }
}

impl<'a> Node<'a, Metered> for MeteredValue<'a> {
    type Object = MeteredObject<'a>;
    type Array = MeteredArray<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<MeteredObject<'a>> {
        spend(1);
        self.0.as_object().map(MeteredObject)
    }

    fn as_array(&self) -> Option<MeteredArray<'a>> {
        spend(1);
        self.0.as_array().map(|values| MeteredArray(values))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.0.as_str();
        spend(1 + of_bytes(text.map_or(0, str::len), 32));
        text.map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number> {
        spend(1);
        self.0.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        spend(1);
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        spend(1);
        self.0.is_null()
    }

    fn json_type(&self) -> JsonType {
        spend(1);
        match self.0 {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }

    fn string_length(&self) -> Option<u64> {
        let text = self.0.as_str();
        spend(1 + of_bytes(text.map_or(0, str::len), 16));
        text.and_then(|text| u64::try_from(text.chars().count()).ok())
    }

    fn equals_value(&self, expected: &Value) -> bool {
        equality::equal(self.0, expected)
    }

    /// Asked for when a note of what is wrong is made, and for nothing else: what compares values is here.
    fn to_value(&self) -> Cow<'a, Value> {
        spend(NOTE_FUEL);
        Cow::Borrowed(self.0)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        spend(1);
        Some(NodeIdentity::new(std::ptr::from_ref(self.0).addr()))
    }
}

impl<'a> Object<'a, Metered> for MeteredObject<'a> {
    type Node = MeteredValue<'a>;
    type MemberName = &'a str;
    type MembersIter = MeteredMembers<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    /// A search through a tree, which compares the name with one of each level.
    fn get(&self, name: &String) -> Option<MeteredValue<'a>> {
        spend(2 + u64::from(self.0.len().max(1).ilog2()) + of_bytes(name.len(), 4));
        self.0.get(name).map(MeteredValue)
    }

    fn members(&self) -> MeteredMembers<'a> {
        MeteredMembers(self.0.iter())
    }
}

pub(super) struct MeteredMembers<'a>(serde_json::map::Iter<'a>);

impl<'a> Iterator for MeteredMembers<'a> {
    type Item = (&'a str, MeteredValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        let price = price();
        spend(4 + price.element + price.name + of_bytes(name.len(), 8));
        spend(price.name_byte.saturating_mul(of_bytes(name.len(), 1)));
        Some((name, MeteredValue(value)))
    }
}

impl<'a> Array<'a, Metered> for MeteredArray<'a> {
    type Node = MeteredValue<'a>;
    type ElementsIter = MeteredElements<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> MeteredElements<'a> {
        MeteredElements(self.0.iter())
    }

    fn is_unique(&self) -> bool {
        equality::all_differ(self.0)
    }
}

pub(super) struct MeteredElements<'a>(std::slice::Iter<'a, Value>);

impl<'a> Iterator for MeteredElements<'a> {
    type Item = MeteredValue<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let value = self.0.next()?;
        spend(1 + price().element);
        Some(MeteredValue(value))
    }
}
