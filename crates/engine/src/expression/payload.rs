//! A JSON body as expressions see it, built at once: nothing else is held of it meanwhile.

use super::facts::{Boxed, map};
use cel::common::types::{CelBool, CelDouble, CelInt, CelList, CelNull, CelString, CelUInt};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;
use std::fmt;

/// What is no JSON, or nested deeper than the parser follows, is null.
pub(super) fn of_text(body: &[u8]) -> Boxed {
    let mut parser = serde_json::Deserializer::from_slice(body);
    let built = Payload.deserialize(&mut parser).and_then(|built| parser.end().map(|()| built));
    built.unwrap_or_else(|_| Box::new(CelNull))
}

/// Of a body that somebody else had to parse.
pub(super) fn of_json(json: Json) -> Boxed {
    Payload.deserialize(json).unwrap_or_else(|_| Box::new(CelNull))
}

struct Payload;

impl<'de> DeserializeSeed<'de> for Payload {
    type Value = Boxed;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Boxed, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Payload {
    type Value = Boxed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Boxed, E> {
        Ok(Box::new(CelNull))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Boxed, E> {
        Ok(Box::new(CelBool::from(value)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Boxed, E> {
        Ok(Box::new(CelInt::from(number)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Boxed, E> {
        Ok(match i64::try_from(number) {
            Ok(number) => Box::new(CelInt::from(number)),
            Err(_) => Box::new(CelUInt::from(number)),
        })
    }

    fn visit_f64<E>(self, number: f64) -> Result<Boxed, E> {
        Ok(Box::new(CelDouble::from(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Boxed, E> {
        Ok(Box::new(CelString::from(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Boxed, E> {
        Ok(Box::new(CelString::from(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Boxed, A::Error> {
        let mut items: Vec<Boxed> = Vec::new();
        while let Some(item) = from.next_element_seed(Payload)? {
            items.push(item);
        }
        Ok(Box::new(CelList::from(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Boxed, A::Error> {
        let mut fields = Vec::new();
        while let Some(name) = from.next_key::<String>()? {
            fields.push((name, from.next_value_seed(Payload)?));
        }
        Ok(map(fields))
    }
}
