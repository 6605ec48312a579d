//! When two JSON values are equal as JSON Schema means it, paid for by what is looked at: `1` and `1.0` are, and the
//! order of fields is nothing.

use super::fuel::{of_bytes, spend};
use serde_json::{Number, Value};
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};

/// What is equal has the same.
#[derive(PartialEq, Eq, Hash)]
enum Quantity {
    Whole(i128),
    /// The bits of one that is not whole, or past every whole number here.
    Float(u64),
}

impl Quantity {
    #[allow(clippy::cast_possible_truncation)]
    fn of(number: &Number) -> Self {
        if let Some(whole) = number.as_i128() {
            return Quantity::Whole(whole);
        }
        let float = number.as_f64().unwrap_or(f64::INFINITY);
        // Below this every whole float is exactly an `i128`.
        if float.fract() == 0.0 && float.abs() < 1e38 {
            return Quantity::Whole(float as i128);
        }
        Quantity::Float(float.to_bits())
    }
}

pub(super) fn equal(left: &Value, right: &Value) -> bool {
    spend(1);
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Number(left), Value::Number(right)) => Quantity::of(left) == Quantity::of(right),
        (Value::String(left), Value::String(right)) => {
            spend(of_bytes(left.len().min(right.len()), 32));
            left == right
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, value)| {
                    spend(2 + of_bytes(name.len(), 4));
                    right.get(name).is_some_and(|other| equal(value, other))
                })
        }
        _ => false,
    }
}

/// Whether no two are equal: by 128 bits of hashes whose keys nobody knows, so that no list is made to collide.
pub(super) fn all_differ(values: &[Value]) -> bool {
    let keys = (RandomState::new(), RandomState::new());
    let mut seen = HashSet::new();
    values.iter().all(|value| {
        spend(8);
        let (mut low, mut high) = (keys.0.build_hasher(), keys.1.build_hasher());
        hash(value, &keys, &mut low, &mut high);
        seen.insert((low.finish(), high.finish()))
    })
}

fn hash(value: &Value, keys: &(RandomState, RandomState), low: &mut impl Hasher, high: &mut impl Hasher) {
    spend(8);
    let mut both = |part: &dyn Fn(&mut dyn Hasher)| {
        part(low);
        part(high);
    };
    both(&|hasher| std::mem::discriminant(value).hash(&mut { hasher }));
    match value {
        Value::Null => {}
        Value::Bool(truth) => both(&|hasher| hasher.write_u8(u8::from(*truth))),
        Value::Number(number) => both(&|hasher| Quantity::of(number).hash(&mut { hasher })),
        Value::String(text) => {
            spend(of_bytes(text.len(), 4));
            both(&|hasher| text.hash(&mut { hasher }));
        }
        Value::Array(values) => {
            both(&|hasher| hasher.write_usize(values.len()));
            values.iter().for_each(|value| hash(value, keys, low, high));
        }
        Value::Object(fields) => {
            both(&|hasher| hasher.write_usize(fields.len()));
            let mut sum = (0_u64, 0_u64);
            for (name, value) in fields {
                spend(8 + of_bytes(name.len(), 4));
                let (mut field_low, mut field_high) = (keys.0.build_hasher(), keys.1.build_hasher());
                name.hash(&mut field_low);
                name.hash(&mut field_high);
                hash(value, keys, &mut field_low, &mut field_high);
                sum.0 = sum.0.wrapping_add(field_low.finish());
                sum.1 = sum.1.wrapping_add(field_high.finish());
            }
            low.write_u64(sum.0);
            high.write_u64(sum.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_equal_by_what_they_mean_and_lists_of_them_differ_or_not_by_the_same() {
        let big = |text: &str| serde_json::from_str::<Value>(text).expect("it is JSON");
        for (left, right, same) in [
            (json!(1), json!(1.0), true),
            (json!(0), json!(-0.0), true),
            (json!(-3), json!(-3.0), true),
            (json!(0.1), json!(0.1), true),
            (json!(0.1), json!(0.2), false),
            (json!(u64::MAX), json!(u64::MAX), true),
            (json!(u64::MAX), big("18446744073709551616"), false),
            (big("1e300"), big("1e300"), true),
            (big("1e300"), big("1e301"), false),
            (json!([]), json!([[]]), false),
            (json!([[], [[]]]), json!([[[]], []]), false),
            (json!({ "a": 1, "b": [2] }), json!({ "b": [2.0], "a": 1 }), true),
            (json!({ "a": 1, "b": 2 }), json!({ "a": 2, "b": 1 }), false),
            (json!("1"), json!(1), false),
            (json!(null), json!(false), false),
            (json!("é"), json!("é"), true),
        ] {
            assert_eq!(equal(&left, &right), same, "{left} {right}");
            assert_eq!(all_differ(&[left.clone(), json!("between"), right.clone()]), !same, "{left} {right}");
        }
    }
}
