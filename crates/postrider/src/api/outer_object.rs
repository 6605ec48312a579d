//! The fields of an object in JSON as they came, for bodies of megabytes: what is built of one in memory may take a
//! hundred times its bytes, so nothing is built but what is asked for.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Far more than any object has that is read here.
const FIELDS_MAX: usize = 1000;

/// Each field by its name, in their order.
pub(super) struct OuterObject<'t>(pub(super) Vec<(String, &'t RawValue)>);

/// JSON that is held to the same rules as one that is built, and then forgotten.
pub(super) struct Sound;

impl<'t> Deserialize<'t> for OuterObject<'t> {
    fn deserialize<D: Deserializer<'t>>(from: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'t> Visitor<'t> for Fields {
            type Value = OuterObject<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'t>>(self, mut from: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = from.next_entry()? {
                    if fields.len() == FIELDS_MAX {
                        return Err(A::Error::custom(format_args!("more than {FIELDS_MAX} fields")));
                    }
                    fields.push(field);
                }
                Ok(OuterObject(fields))
            }
        }
        from.deserialize_map(Fields)
    }
}

impl<'t> Deserialize<'t> for Sound {
    fn deserialize<D: Deserializer<'t>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Sound)
    }
}

impl<'t> Visitor<'t> for Sound {
    type Value = Sound;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_str<E>(self, _: &str) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut from: A) -> Result<Sound, A::Error> {
        while from.next_element::<Sound>()?.is_some() {}
        Ok(Sound)
    }

    fn visit_map<A: MapAccess<'t>>(self, mut from: A) -> Result<Sound, A::Error> {
        while from.next_entry::<Sound, Sound>()?.is_some() {}
        Ok(Sound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn what_is_sound_is_what_can_be_built() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        for text in ["1e999999", r#"{"a":"\ud800"}"#, r#"{"\ud800":1}"#, "[1,]", "nul", "", "1 2", &deep] {
            assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
            assert!(serde_json::from_str::<Sound>(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_sound_if_it_can_be_built(text in r#"[\[\]{}:,"\\ 0-9a-eu.]{0,40}"#) {
            let built = serde_json::from_str::<Value>(&text).is_ok();
            prop_assert_eq!(serde_json::from_str::<Sound>(&text).is_ok(), built);
        }
    }
}
