//! Whether two tables hold the same rows, whatever order they are read in.

use super::table::{Cell, Row};
use ring::digest::{Context, SHA256};

/// How many rows, and the sum of their hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum {
    /// Rows.
    pub rows: u64,
    sum: u128,
}

impl Checksum {
    /// Takes a row in.
    pub fn add(&mut self, row: &Row) {
        let mut context = Context::new(&SHA256);
        for cell in &row.0 {
            // The kind and the length in front, so that no two rows look alike.
            match cell {
                Cell::Null => context.update(&[0]),
                Cell::Int(value) => {
                    context.update(&[1]);
                    context.update(&value.to_be_bytes());
                }
                Cell::Text(text) => add_bytes(&mut context, 2, text.as_bytes()),
                Cell::Bytes(bytes) => add_bytes(&mut context, 3, bytes),
            }
        }
        let hash = context.finish();
        let first: [u8; 16] =
            hash.as_ref().get(..16).and_then(|half| half.try_into().ok()).expect("a hash has 32 bytes");
        self.rows += 1;
        self.sum = self.sum.wrapping_add(u128::from_be_bytes(first));
    }
}

fn add_bytes(context: &mut Context, kind: u8, bytes: &[u8]) {
    context.update(&[kind]);
    context.update(&(bytes.len() as u64).to_be_bytes());
    context.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(rows: &[&[Cell]]) -> Checksum {
        let mut sum = Checksum::default();
        rows.iter().for_each(|row| sum.add(&Row(row.to_vec())));
        sum
    }

    #[test]
    fn the_same_rows_have_the_same_sum_in_any_order_and_others_another() {
        let (a, b) = ([Cell::Int(1), Cell::Text("x".into())], [Cell::Int(2), Cell::Null]);
        assert_eq!(sum(&[&a, &b]), sum(&[&b, &a]));
        assert_ne!(sum(&[&a, &b]), sum(&[&a, &a]));
        assert_ne!(sum(&[&a]), sum(&[&[Cell::Int(1), Cell::Bytes(b"x".to_vec())]]));
        let (text, split) = (Cell::Text("ab".into()), [Cell::Text("a".into()), Cell::Text("b".into())]);
        assert_ne!(sum(&[&[text]]), sum(&[&split]));
    }
}
