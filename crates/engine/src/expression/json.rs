//! Writes what an expression gives as JSON: the same bytes for the same value, and never more than a limit.

use super::Failure;
use cel::common::types::{
    CelBool, CelBytes, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt,
};
use cel::common::value::Val;
use postrider_core::limits::BODY_BYTES_MAX;

/// JSON as it grows.
#[derive(Default)]
pub(super) struct Output(Vec<u8>);

impl Output {
    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.0.extend_from_slice(bytes);
        self.check()
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.0, text).map_err(|_| Failure::broken())?;
        self.check()
    }

    fn check(&self) -> Result<(), Failure> {
        if self.0.len() <= BODY_BYTES_MAX { Ok(()) } else { Err(too_large()) }
    }

    /// Fields of a map stand in order of their names, so that a retry sends the same bytes.
    pub(super) fn value(&mut self, value: &dyn Val) -> Result<(), Failure> {
        if let Some(text) = value.downcast_ref::<CelString<'_>>() {
            self.text(text.inner())
        } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
            let mut fields: Vec<(String, &dyn Val)> =
                map.inner().iter().map(|(key, field)| (name(key), field.as_ref())).collect();
            fields.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            self.object(fields, |output, field| output.value(field))
        } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
            self.list(list.inner(), |output, element| output.value(element.as_ref()))
        } else if let Some(number) = value.downcast_ref::<CelDouble>() {
            self.double(*number.inner())
        } else if value.downcast_ref::<CelNull>().is_some() {
            self.push(b"null")
        } else if value.downcast_ref::<CelBytes<'_>>().is_some() {
            Err(Failure::new("JSON cannot hold bytes; convert them with string()"))
        } else {
            let text = plain(value).ok_or_else(|| Failure::new("it gives what cannot be written as JSON"))?;
            self.push(text.as_bytes())
        }
    }

    fn double(&mut self, number: f64) -> Result<(), Failure> {
        if !number.is_finite() {
            return Err(Failure::new("a number is infinite or none, which JSON cannot hold"));
        }
        serde_json::to_writer(&mut self.0, &number).map_err(|_| Failure::broken())?;
        self.check()
    }

    pub(super) fn object<T>(
        &mut self,
        fields: impl IntoIterator<Item = (String, T)>,
        mut write: impl FnMut(&mut Self, T) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.push(b"{")?;
        for (index, (name, field)) in fields.into_iter().enumerate() {
            self.push(if index == 0 { b"" } else { b"," })?;
            self.text(&name)?;
            self.push(b":")?;
            write(self, field)?;
        }
        self.push(b"}")
    }

    pub(super) fn list<T>(
        &mut self,
        elements: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.push(b"[")?;
        for (index, element) in elements.into_iter().enumerate() {
            self.push(if index == 0 { b"" } else { b"," })?;
            write(self, element)?;
        }
        self.push(b"]")
    }
}

pub(super) fn too_large() -> Failure {
    Failure::new(format!("it gives a body larger than the {BODY_BYTES_MAX} bytes allowed"))
}

/// A whole number or a truth as text.
pub(super) fn plain(value: &dyn Val) -> Option<String> {
    if let Some(number) = value.downcast_ref::<CelInt>() {
        Some(number.inner().to_string())
    } else if let Some(number) = value.downcast_ref::<CelUInt>() {
        Some(number.inner().to_string())
    } else {
        value.downcast_ref::<CelBool>().map(|truth| truth.inner().to_string())
    }
}

pub(super) fn name(key: &CelMapKey<'_>) -> String {
    let value = key.inner();
    match value.downcast_ref::<CelString<'_>>() {
        Some(text) => text.inner().to_owned(),
        None => plain(value).unwrap_or_default(),
    }
}
