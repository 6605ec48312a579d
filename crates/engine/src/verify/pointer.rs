//! Finds one value in a JSON text without keeping the rest: memory stays flat whatever a sender makes up.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// What stands at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A text.
    Text(String),
    /// A whole number, in its digits.
    Number(String),
    /// Something else: a list, an object, a fraction, a switch.
    Other,
}

/// What an RFC 6901 pointer leads to; `None` when the body is not JSON or has nothing, or `null`, there. Of a name
/// that comes twice in an object the last counts, as in most readers.
pub fn find(body: &[u8], pointer: &str) -> Option<Found> {
    let unescaped = |part: &str| part.replace("~1", "/").replace("~0", "~");
    let path: Vec<String> = pointer.split('/').skip(1).map(unescaped).collect();
    let mut reader = serde_json::Deserializer::from_slice(body);
    let found = Walk(&path).deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    found
}

/// Whether a text is a pointer that can lead to a value inside a body.
pub(super) fn is_pointer(text: &str) -> bool {
    text.starts_with('/') && text.len() <= 512
}

/// Follows what is left of the path.
#[derive(Clone, Copy)]
struct Walk<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = Option<Found>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl Walk<'_> {
    /// A value that is neither a list nor an object is found only where the path ends.
    fn leaf(self, found: impl FnOnce() -> Found) -> Option<Found> {
        self.0.is_empty().then(found)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = Option<Found>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut found = self.leaf(|| Found::Other);
        while let Some(name) = map.next_key::<String>()? {
            match self.0.split_first() {
                Some((first, rest)) if *first == name => found = map.next_value_seed(Walk(rest))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Self::Value, S::Error> {
        let mut found = self.leaf(|| Found::Other);
        let (wanted, rest) = match self.0.split_first() {
            Some((first, rest)) => (first.parse::<usize>().ok(), rest),
            None => (None, self.0),
        };
        for index in 0.. {
            if wanted == Some(index) {
                match list.next_element_seed(Walk(rest))? {
                    Some(here) => found = here,
                    None => break,
                }
            } else if list.next_element::<IgnoredAny>()?.is_none() {
                break;
            }
        }
        Ok(found)
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.leaf(|| Found::Text(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(self.leaf(|| Found::Number(number.to_string())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(self.leaf(|| Found::Number(number.to_string())))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(self.leaf(|| Found::Other))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(self.leaf(|| Found::Other))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_leads_to_one_value_or_to_nothing() {
        let text = |text: &str| Some(Found::Text(text.to_owned()));
        let body = r#"{"a":{"b":["x",{"c/d~e":"deep"},7]},"n":null,"f":1.5,"t":"1","t":"2","é":-3}"#;
        for (pointer, expected) in [
            ("/a/b/0", text("x")),
            ("/a/b/1/c~1d~0e", text("deep")),
            ("/a/b/2", Some(Found::Number("7".into()))),
            ("/é", Some(Found::Number("-3".into()))),
            ("/t", text("2")),
            ("/a/b", Some(Found::Other)),
            ("/f", Some(Found::Other)),
            ("/n", None),
            ("/n/x", None),
            ("/a/b/3", None),
            ("/a/b/-", None),
            ("/t/0", None),
            ("/missing", None),
            ("/", None),
        ] {
            assert_eq!(find(body.as_bytes(), pointer), expected, "{pointer}");
        }
    }

    #[test]
    fn what_is_no_json_has_nothing_anywhere() {
        let deep = "[".repeat(100_000);
        for body in ["", "{", "{\"a\":1}x", "a=1", "\u{0}", "{\"a\":\"\\ud800\"}", &deep] {
            assert_eq!(find(body.as_bytes(), "/a"), None, "{:.20}", body);
        }
        assert_eq!(find(b"{\"a\":\"\xff\"}", "/a"), None);
    }
}
