//! How much there is in a JSON body, known without building anything of it: what is built takes many times its bytes.

use postrider_core::limits::{BODY_BYTES_MAX, BODY_VALUES_MAX};

/// What an object counts beside its fields, by what it takes in memory.
const OBJECT_VALUES: u64 = 8;
/// Deeper than any parser here follows: what is nested so is not built.
const DEPTH_MAX: usize = 128;

/// How much there is in a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BodyMeasure {
    pub(crate) bytes: usize,
    /// Values and names, an object counting eight times.
    pub(crate) values: u64,
    /// Elements of its longest list, or fields of its longest object.
    pub(crate) longest: u64,
}

impl BodyMeasure {
    /// Goes once over the bytes. Of what is no JSON it says something, which nobody asks for.
    pub(crate) fn of(body: &[u8]) -> Self {
        let mut measure = BodyMeasure { bytes: body.len(), values: 1, longest: 0 };
        let mut lengths = Vec::with_capacity(16);
        let mut bytes = body.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'"' => pass_text(&mut bytes),
                b'[' | b'{' => {
                    measure.values += if *byte == b'{' { OBJECT_VALUES } else { 1 };
                    if lengths.len() == DEPTH_MAX {
                        return measure;
                    }
                    lengths.push(1);
                    measure.longest = measure.longest.max(1);
                }
                b']' | b'}' => drop(lengths.pop()),
                b':' => measure.values += 1,
                b',' => {
                    measure.values += 1;
                    if let Some(length) = lengths.last_mut() {
                        *length += 1;
                        measure.longest = measure.longest.max(*length);
                    }
                }
                _ => {}
            }
        }
        measure
    }

    /// No body of which something is built is larger.
    pub(crate) const fn largest() -> Self {
        BodyMeasure { bytes: BODY_BYTES_MAX, values: BODY_VALUES_MAX, longest: BODY_VALUES_MAX }
    }

    pub(crate) const fn may_be_built(self) -> bool {
        self.values <= BODY_VALUES_MAX
    }
}

fn pass_text(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_names_and_the_longest_list_are_counted_and_texts_are_one_value() {
        for (body, values, longest) in [
            ("", 1, 0),
            ("5", 1, 0),
            ("[]", 2, 1),
            ("[1,2,3]", 4, 3),
            (r#"{"a":1,"b":[1,2,3]}"#, 15, 3),
            (r#""a,b:[{\",,,""#, 1, 0),
            (r#"["a,b","c\\"]"#, 3, 2),
        ] {
            let found = BodyMeasure::of(body.as_bytes());
            assert_eq!((found.values, found.longest), (values, longest), "{body}");
        }
        assert!(BodyMeasure::of(&b"[".repeat(1000)).may_be_built());
        let objects = format!("[{}0]", r#"{"":0},"#.repeat(500_000));
        assert!(!BodyMeasure::of(objects.as_bytes()).may_be_built());
    }
}
